// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "bus/wire/frame.h"
#include "bus/wire/roles.h"
#include "bus/wire/run_messages.h"

namespace starling::wire {
namespace {

/// Translates a verified frame, message by message.
class Decoder : public RunReader {
 public:
  using RunReader::RunReader;

  Message message(const Frame& f);

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(Body::MAX);
  using Reader = Message (Decoder::*)(const Frame&);

  template <class Kind>
  static constexpr std::size_t kAt = static_cast<std::size_t>(BodyTraits<Kind>::enum_value) - 1;
  template <class Use>
  static constexpr void for_all(Use use) {
    use(FlockKinds{});
    use(JobKinds{});
    use(QueueKinds{});
    use(GangKinds{});
    use(RunKinds{});
  }
  /// By number in the union, which is all that is known of a frame.
  static constexpr std::array<Reader, kKinds> readers() {
    std::array<Reader, kKinds> readers{};
    for_all(
        [&]<class... Kind>(Kinds<Kind...>) { ((readers[kAt<Kind>] = &Decoder::body<Kind>), ...); });
    return readers;
  }
  /// With sanitizers a pointer to a member function is not compared while compiling.
  static constexpr bool all_are_read() {
    std::array<bool, kKinds> read{};
    for_all([&]<class... Kind>(Kinds<Kind...>) { ((read[kAt<Kind>] = true), ...); });
    return std::ranges::all_of(read, [](bool one) { return one; });
  }
  template <class Kind>
  Message body(const Frame& f) {
    return read(*f.body_as<Kind>());
  }
};

Message Decoder::message(const Frame& f) {
  static constexpr std::array kReaders = readers();
  static_assert(all_are_read());
  const auto kind = static_cast<std::size_t>(f.body_type());
  if (kind > 0 && kind <= kReaders.size()) return (this->*kReaders[kind - 1])(f);
  fail("unknown kind of message");
  return starling::StatusQuery{};
}

std::string protocols_text(std::uint16_t oldest, std::uint16_t newest) {
  return oldest == newest ? std::to_string(oldest) + " is"
                          : std::to_string(oldest) + " to " + std::to_string(newest) + " are";
}

}  // namespace

Result<starling::Frame> decode_frame(const std::uint8_t* data, std::size_t size,
                                     const Limits& limits, std::uint16_t protocol) {
  if (!FrameBufferHasIdentifier(data)) return {Errc::invalid, "frame: not of this protocol"};
  flatbuffers::Verifier verifier(data, size, kDepth, kTables);
  if (!VerifyFrameBuffer(verifier)) return {Errc::invalid, "frame: malformed"};

  const Frame& frame = *GetFrame(data);
  if (frame.protocol() < kOldestProtocol || frame.protocol() > protocol) {
    return {Errc::invalid, "frame: protocol " + std::to_string(frame.protocol()) + ", only " +
                               protocols_text(kOldestProtocol, protocol) + " spoken"};
  }
  const auto kind = static_cast<std::size_t>(frame.body_type());
  const std::uint16_t known = std::min(frame.protocol(), protocol);
  if (kind > 0 && kind <= std::variant_size_v<MessageKinds> && protocol_of(kind - 1) > known)
    return {Errc::invalid, "unknown: unknown kind of message"};
  Decoder decoder(limits, size, known);
  starling::Frame out{{frame.protocol(), Incarnation{frame.incarnation()}, frame.sequence(),
                       std::max(frame.speaks(), frame.protocol()), Incarnation{frame.meant_for()},
                       frame.born(), frame.written(), frame.began()},
                      decoder.message(frame)};
  if (decoder.error() != nullptr)
    return {Errc::invalid, std::string(kind_name(kind - 1)) + ": " + decoder.error()};
  return out;
}

}  // namespace starling::wire
