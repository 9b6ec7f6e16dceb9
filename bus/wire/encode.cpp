// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/frame.h"
#include "bus/wire/run_messages.h"

namespace starling::wire {
namespace {

// The union and the variant list the same kinds in the same order, so one index serves both.
static_assert(static_cast<std::size_t>(Body::MAX) == std::variant_size_v<MessageKinds>);
static_assert(static_cast<std::size_t>(starling::Role::client) ==
              static_cast<std::size_t>(Role::MAX));
static_assert(static_cast<std::size_t>(starling::Refusal::denied) ==
              static_cast<std::size_t>(Refusal::MAX));
static_assert(static_cast<std::size_t>(starling::JobPhase::moved) ==
              static_cast<std::size_t>(JobPhase::MAX));
static_assert(static_cast<std::size_t>(starling::JobReason::quota) ==
              static_cast<std::size_t>(JobReason::MAX));
static_assert(static_cast<std::size_t>(starling::JobChange::requeue_hold) ==
              static_cast<std::size_t>(JobChange::MAX));
static_assert(static_cast<std::size_t>(starling::After::How::not_ok) ==
              static_cast<std::size_t>(How::MAX));
static_assert(static_cast<std::size_t>(starling::AttemptLife::not_ready) ==
              static_cast<std::size_t>(AttemptLife::MAX));

}  // namespace

void encode_frame(fb::FlatBufferBuilder& builder, const Limits& limits, const FrameHeader& header,
                  const Message& message) {
  RunWriter encoder(builder, limits, header.protocol);
  const auto type = static_cast<Body>(message.index() + 1);
  const fb::Offset<void> body =
      std::visit([&](const auto& m) { return encoder.body(m).Union(); }, message);
  const std::uint16_t speaks = header.speaks > 1 ? header.speaks : std::uint16_t{0};
  FinishFrameBuffer(
      builder,
      CreateFrame(builder, header.protocol, header.incarnation.value, header.sequence, type, body,
                  speaks, header.meant_for.value, header.born, header.written, header.began));
}

}  // namespace starling::wire
