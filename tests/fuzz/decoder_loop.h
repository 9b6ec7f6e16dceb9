// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "agents/message.h"
#include "tests/fuzz/frame_mutator.h"

namespace starling::fuzz {

/// What became of frames that were almost right.
struct DecoderReport {
  std::uint64_t executions = 0;
  std::uint64_t accepted = 0;
  std::array<std::uint64_t, std::variant_size_v<MessageKinds>>
      accepted_of{};                                       ///< by index of Message
  std::unordered_map<std::string, std::uint64_t> refused;  ///< by reason, numbers as #
  std::optional<std::string> finding;  ///< what was accepted and did not say the same again

  void add(const DecoderReport& other);
};

constexpr std::uint32_t kExecutionsPerSeed = 20'000;

/// Frames to begin with, in the order of their names. Empty where `dir` is no folder.
[[nodiscard]] std::vector<FrameBytes> read_corpus(const std::filesystem::path& dir);

/// kExecutionsPerSeed frames through Codec::decode(): those of `corpus` and of random messages in
/// every protocol, changed. What is accepted must encode again, to a frame that decodes to what
/// encodes to the same bytes. Ends at the first that does not. Same seed and corpus, same report.
[[nodiscard]] DecoderReport fuzz_decoder(std::uint64_t seed, const std::vector<FrameBytes>& corpus);

/// Where this thread is, for a handler of fatal signals.
struct DecoderPlace {
  std::uint64_t seed, execution;
};
[[nodiscard]] DecoderPlace decoder_place() noexcept;

}  // namespace starling::fuzz
