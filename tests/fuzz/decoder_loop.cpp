// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/decoder_loop.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "bus/wire/codec.h"
#include "tests/fuzz/random_message.h"

namespace starling::fuzz {
namespace {

constexpr std::size_t kRandomFrames = 200;
constexpr std::uint32_t kKeepOneIn = 16;
thread_local DecoderPlace place{};

/// Some reasons name a number of the frame.
std::string without_numbers(const std::string& reason) {
  if (!reason.starts_with("frame: ")) return reason;
  std::string out;
  for (const char c : reason) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out += c;
    if (digit && !out.ends_with('#')) out += '#';
  }
  return out;
}

std::string hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::byte b : bytes) {
    out += kDigits[std::to_integer<unsigned>(b) >> 4U];
    out += kDigits[std::to_integer<unsigned>(b) & 15U];
  }
  return out;
}

/// Null, or what is wrong with a frame that was accepted.
const char* says_the_same(Codec& encoder, Codec& decoder, const Frame& frame, FrameBytes& again) {
  const auto first = encoder.encode(frame.header, frame.message);
  if (first.empty()) return "it does not encode again";
  again.assign(first.begin(), first.end());
  const Result<Frame> back = decoder.decode(again);
  if (!back.ok()) return "what it encodes to is refused";
  if (back.value().message.index() != frame.message.index()) return "its kind changes";
  const auto second = encoder.encode(back.value().header, back.value().message);
  return std::ranges::equal(second, again) ? nullptr : "it says something else the second time";
}

}  // namespace

void DecoderReport::add(const DecoderReport& other) {
  executions += other.executions;
  accepted += other.accepted;
  for (std::size_t i = 0; i < accepted_of.size(); ++i) accepted_of[i] += other.accepted_of[i];
  for (const auto& [reason, count] : other.refused) refused[reason] += count;
  if (!finding) finding = other.finding;
}

std::vector<FrameBytes> read_corpus(const std::filesystem::path& dir) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir, error))
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<FrameBytes> frames;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const auto bytes = std::as_bytes(std::span(text));
    frames.emplace_back(bytes.begin(), bytes.end());
  }
  return frames;
}

DecoderPlace decoder_place() noexcept { return place; }

DecoderReport fuzz_decoder(std::uint64_t seed, const std::vector<FrameBytes>& corpus) {
  DecoderReport report;
  Codec codec, again;
  FrameMutator frames(Rng(seed, 1));
  testing::RandomMessage random{Rng(seed, 2)};
  for (const FrameBytes& frame : corpus) frames.add(frame);
  for (std::size_t i = 0; i < kRandomFrames; ++i) {
    const Message message = random.make(i < random.kinds ? i : random.rng().below(random.kinds));
    const std::uint16_t least = protocol_of(message.index());
    const auto protocol =
        static_cast<std::uint16_t>(least + random.rng().below(kNewestProtocol - least + 1U));
    frames.add(codec.encode({protocol, Incarnation{1}, i}, message));
  }
  FrameBytes copy;
  for (std::uint32_t i = 0; i < kExecutionsPerSeed; ++i) {
    place = {seed, i};
    const auto bytes = frames.next();
    const Result<Frame> got = codec.decode(bytes);
    ++report.executions;
    if (!got.ok()) {
      ++report.refused[without_numbers(got.error().message)];
      continue;
    }
    ++report.accepted;
    ++report.accepted_of[got.value().message.index()];
    if (const char* wrong = says_the_same(codec, again, got.value(), copy); wrong != nullptr) {
      report.finding = "seed " + std::to_string(seed) + ", execution " + std::to_string(i) + ", " +
                       name_of(got.value().message) + ": accepted, but " + wrong + ": " +
                       hex(bytes);
      return report;
    }
    if (frames.rng().next() % kKeepOneIn == 0) frames.keep();
  }
  return report;
}

}  // namespace starling::fuzz
