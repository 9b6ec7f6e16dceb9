// Frames that a broken or hostile peer could send. Everything that is accepted must be as good as
// what a correct node sends: it encodes again, to a frame that says the same.

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <span>
#include <vector>

#include "bus/codec.h"
#include "tests/fuzz/random_message.h"

namespace starling {
namespace {

using Bytes = std::vector<std::byte>;
Bytes copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

void mutate(Bytes& bytes, Rng& rng) {
  for (std::uint32_t n = 1 + rng.below(4); n > 0; --n) {
    const std::uint32_t at = rng.below(static_cast<std::uint32_t>(bytes.size()));
    switch (rng.below(6)) {
      case 0:
        bytes[at] ^= static_cast<std::byte>(1U << rng.below(8));
        break;
      case 1:
        bytes[at] = static_cast<std::byte>(rng.below(256));
        break;
      case 2:
        bytes[at] = std::byte{0xff};
        break;
      case 3:
        bytes[at] = std::byte{0};
        break;
      case 4:  // a small number where an offset or count may stand
        for (std::uint32_t i = 0; i < 4 && at / 4 * 4 + i < bytes.size(); ++i) {
          bytes[at / 4 * 4 + i] = i == 0 ? static_cast<std::byte>(rng.below(64)) : std::byte{0};
        }
        break;
      default:
        if (bytes.size() > 9)
          bytes.resize(8 + rng.below(static_cast<std::uint32_t>(bytes.size()) - 8));
    }
  }
}

TEST_CASE("mutated frames are refused or mean something") {
  const char* asked = std::getenv("STARLING_FUZZ_SECONDS");
  const auto budget = std::chrono::duration<double>(asked != nullptr ? std::atof(asked) : 3.0);
  const auto start = std::chrono::steady_clock::now();

  Codec codec, second;
  testing::RandomMessage random{Rng(4)};
  std::uint64_t refused = 0, accepted = 0;
  while (std::chrono::steady_clock::now() - start < budget) {
    for (int i = 0; i < 1000; ++i) {
      Bytes bytes = copy(codec.encode({kNewestProtocol, Incarnation{1}, 1}, random.any()));
      mutate(bytes, random.rng());
      const Result<Frame> got = codec.decode(bytes);
      if (!got.ok()) {
        ++refused;
        REQUIRE_FALSE(got.error().message.empty());
        continue;
      }
      ++accepted;
      const Bytes again = copy(codec.encode(got.value().header, got.value().message));
      const Result<Frame> reread = second.decode(again);
      REQUIRE_MESSAGE(reread.ok(), (reread.ok() ? "" : reread.error().message));
      REQUIRE(copy(second.encode(reread.value().header, reread.value().message)) == again);
    }
  }
  MESSAGE(refused << " refused, " << accepted << " accepted");
  CHECK(refused > 1000);
  CHECK(accepted >
        1000);  // else the mutations were too coarse to reach the checks behind the verifier
}

TEST_CASE("noise is refused") {
  Codec codec;
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes(8 + rng.below(200));
    for (std::byte& b : bytes) b = static_cast<std::byte>(rng.below(256));
    const char id[] = {'S', 'T', 'R', '1'};
    for (std::size_t k = 0; k < 4; ++k) bytes[4 + k] = static_cast<std::byte>(id[k]);
    CHECK_FALSE(codec.decode(bytes).ok());
  }
}

}  // namespace
}  // namespace starling
