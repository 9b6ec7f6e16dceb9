// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "agents/message.h"
#include "base/limits.h"
#include "base/result.h"

namespace starling {

/// What stands in front of every message. `from` is not here: the transport says which node it was.
struct FrameHeader {
  std::uint16_t protocol = kOldestProtocol;  ///< version that the frame is in
  Incarnation incarnation;
  std::uint64_t sequence = 0;
  std::uint16_t speaks = kOldestProtocol;  ///< newest of the sender; encode() says its codec's
  Incarnation meant_for{};                 ///< life of the receiver that it is for alone; 0: any
  std::uint64_t born = 0;     ///< drawn anew by each life of the sender; 0: it does not say
  std::uint64_t written = 0;  ///< records of its journal that were durable; 0: it does not say
  std::uint64_t began = 0;    ///< number of the first record of this life; 0: it does not say
};
struct Frame {
  FrameHeader header;
  Message message;
};

/// Messages to FlatBuffers frames and back. decode() trusts nothing: size, alignment, identifier,
/// verifier, then the meaning of every field (enums, counts, ranges against Limits); anything wrong
/// is `invalid` with the reason and changes nothing. encode() reuses one buffer: the span is valid
/// until the next call; empty where the message is too large, or newer than the header's protocol.
///
/// A codec of an earlier protocol refuses and leaves out what that one did not know.
class Codec {
 public:
  explicit Codec(const Limits& limits = {}, std::uint16_t protocol = kNewestProtocol);
  ~Codec();
  Codec(Codec&&) noexcept;

  [[nodiscard]] std::span<const std::byte> encode(const FrameHeader& header,
                                                  const Message& message);
  [[nodiscard]] Result<Frame> decode(std::span<const std::byte> bytes);

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace starling
