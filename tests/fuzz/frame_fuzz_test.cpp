// SPDX-License-Identifier: Apache-2.0
// Frames that a broken or hostile peer could send. Everything that is accepted must be as good as
// what a correct node sends: it encodes again, to a frame that says the same. The same loop for a
// thousand million frames: fuzz_decoder.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "bus/wire/codec.h"
#include "tests/fuzz/decoder_loop.h"

namespace starling {
namespace {

std::vector<fuzz::FrameBytes> corpus() {
  const char* source = std::getenv("STARLING_SOURCE");
  REQUIRE(source != nullptr);
  const auto frames = fuzz::read_corpus(std::filesystem::path(source) / "tests/fuzz/corpus/frame");
  REQUIRE(!frames.empty());
  return frames;
}

TEST_CASE("mutated frames are refused or mean something") {
  const char* asked = std::getenv("STARLING_FUZZ_SECONDS");
  const auto budget = std::chrono::duration<double>(asked != nullptr ? std::atof(asked) : 3.0);
  const auto start = std::chrono::steady_clock::now();
  const auto frames = corpus();
  fuzz::DecoderReport report;
  for (std::uint64_t seed = 1; seed <= 5 || std::chrono::steady_clock::now() - start < budget;
       ++seed) {
    report.add(fuzz::fuzz_decoder(seed, frames));
    REQUIRE_MESSAGE(!report.finding, *report.finding);
  }
  MESSAGE(report.executions << " frames, " << report.accepted << " accepted, "
                            << report.refused.size() << " reasons to refuse");
  CHECK(report.refused["frame: malformed"] > 1000);
  CHECK_FALSE(report.refused.contains(""));
  // Else the mutations were too coarse to reach the checks behind the verifier, or too fine.
  CHECK(report.refused.size() > 100);
  CHECK(*std::ranges::min_element(report.accepted_of) > 0);
}

TEST_CASE("a seed is the same frames every time, another one others") {
  const auto frames = corpus();
  const fuzz::DecoderReport one = fuzz::fuzz_decoder(7, frames),
                            same = fuzz::fuzz_decoder(7, frames);
  CHECK(one.executions == fuzz::kExecutionsPerSeed);
  CHECK(one.accepted_of == same.accepted_of);
  CHECK(one.refused == same.refused);
  CHECK(one.refused != fuzz::fuzz_decoder(8, frames).refused);
}

TEST_CASE("words that a reader relies on are found in a frame") {
  Codec codec;
  const fuzz::BaseFrame ping(codec.encode({kNewestProtocol, Incarnation{1}, 1}, Ping{7}));
  const auto count = [&ping](fuzz::BaseFrame::Kind kind) {
    return std::ranges::count(ping.spots, kind, &fuzz::BaseFrame::Spot::kind);
  };
  CHECK(count(fuzz::BaseFrame::Kind::table) == 2);   // the frame, the ping in it
  CHECK(count(fuzz::BaseFrame::Kind::offset) == 2);  // to each of them
  CHECK(fuzz::BaseFrame(std::vector<std::byte>(11)).spots.empty());
}

TEST_CASE("noise is refused") {
  Codec codec;
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    fuzz::FrameBytes bytes(8 + rng.below(200));
    for (std::byte& b : bytes) b = static_cast<std::byte>(rng.below(256));
    const char id[] = {'S', 'T', 'R', '1'};
    for (std::size_t k = 0; k < 4; ++k) bytes[4 + k] = static_cast<std::byte>(id[k]);
    CHECK_FALSE(codec.decode(bytes).ok());
  }
}

}  // namespace
}  // namespace starling
