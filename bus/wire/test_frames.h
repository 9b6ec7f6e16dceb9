// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bus/wire/codec.h"

namespace starling::testing {

using Bytes = std::vector<std::byte>;

/// What an encoder gives is its own until it encodes the next frame.
inline Bytes copy(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

/// As a node of `protocol` says `message`; empty where it cannot.
inline Bytes frame_of(Codec& codec, const Message& message,
                      std::uint16_t protocol = kNewestProtocol) {
  return copy(codec.encode({protocol, Incarnation{7}, 9}, message));
}

/// The reason why a peer that sends `message` is refused; empty where it is not.
inline std::string refusal(const Message& message, const Limits& limits = {}) {
  Limits generous;  // so that the sender does not cut what the receiver should refuse
  generous.log_tail_bytes = 1U << 20U;
  Codec sender(generous), receiver(limits);
  const Result<Frame> got = receiver.decode(frame_of(sender, message));
  return got.ok() ? "" : got.error().message;
}

}  // namespace starling::testing
