// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/codec.h"

#include <cstring>
#include <vector>

#include "bus/wire/frame.h"

namespace starling {

struct Codec::Buffers {
  Limits limits;
  std::uint16_t protocol = kNewestProtocol;
  flatbuffers::FlatBufferBuilder builder{1024};
  std::vector<std::uint64_t> aligned;  // transports hand out pointers of any alignment
};

Codec::Codec(const Limits& limits, std::uint16_t protocol) : buffers_(std::make_unique<Buffers>()) {
  buffers_->limits = limits;
  buffers_->protocol = protocol;
}
Codec::~Codec() = default;
Codec::Codec(Codec&&) noexcept = default;

std::span<const std::byte> Codec::encode(const FrameHeader& header, const Message& message) {
  if (header.protocol > buffers_->protocol || least_protocol_of(message) > header.protocol)
    return {};
  FrameHeader out = header;
  out.speaks = buffers_->protocol;
  auto& builder = buffers_->builder;
  builder.Clear();
  wire::encode_frame(builder, buffers_->limits, out, message);
  if (builder.GetSize() > buffers_->limits.frame_bytes) return {};
  return {reinterpret_cast<const std::byte*>(builder.GetBufferPointer()), builder.GetSize()};
}

Result<Frame> Codec::decode(std::span<const std::byte> bytes) {
  if (bytes.size() < 8) return {Errc::invalid, "frame: shorter than 8 bytes"};
  if (bytes.size() > buffers_->limits.frame_bytes) {
    return {Errc::invalid, "frame: " + std::to_string(bytes.size()) + " bytes, the limit is " +
                               std::to_string(buffers_->limits.frame_bytes)};
  }
  auto& aligned = buffers_->aligned;
  if (aligned.size() * 8 < bytes.size()) aligned.resize((bytes.size() + 7) / 8);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  auto frame = wire::decode_frame(reinterpret_cast<const std::uint8_t*>(aligned.data()),
                                  bytes.size(), buffers_->limits, buffers_->protocol);
  if (frame && least_protocol_of(frame.value().message) > frame.value().header.protocol)
    return {Errc::invalid, "frame: it says what its protocol does not know"};
  return frame;
}

}  // namespace starling
