// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>

#include "base/limits.h"
#include "base/result.h"
#include "bus/wire/codec.h"

namespace starling::wire {

// What both directions must agree on, besides the schema.

/// Longest free text (reasons, explanation lines, log tails). Longer text is cut when it is sent:
/// people read it, nothing depends on it.
[[nodiscard]] inline std::size_t text_bytes(const Limits& limits) { return limits.log_tail_bytes; }
constexpr std::uint32_t kLines = 256;       ///< lines of one Explanation, arguments of a list
constexpr std::uint32_t kArguments = 4096;  ///< words of a command, entries of an environment
constexpr std::uint32_t kJobsPerList = 1000;
constexpr std::uint32_t kUsers = 4096;  ///< whom one queue names
constexpr std::uint32_t kItemsPerInventory = 16'384;
constexpr std::uint32_t kLongestHold_ms = 86'400'000;  ///< a day
constexpr std::uint32_t kTables = 65'536;  ///< tables in one frame: three per inventory item
constexpr std::uint32_t kDepth = 8;        ///< the schema nests five deep
constexpr Duration kLongest{1LL << 61U};   ///< 73 years: two of them add up without overflow

/// Finishes one frame in `builder`.
void encode_frame(flatbuffers::FlatBufferBuilder& builder, const Limits& limits,
                  const FrameHeader& header, const Message& message);

/// `data` is aligned to 8. Trusts nothing else. Refuses what came after `protocol`.
[[nodiscard]] Result<Frame> decode_frame(const std::uint8_t* data, std::size_t size,
                                         const Limits& limits, std::uint16_t protocol);

}  // namespace starling::wire
