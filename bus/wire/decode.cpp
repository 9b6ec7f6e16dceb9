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
  using Reader = Message (Decoder::*)(const Frame&);
  using Readers = std::array<Reader, static_cast<std::size_t>(Body::MAX)>;

  template <class... Kind>
  static constexpr void add(Readers& readers, Kinds<Kind...>) {
    ((readers[static_cast<std::size_t>(BodyTraits<Kind>::enum_value) - 1] = &Decoder::body<Kind>),
     ...);
  }
  /// By number in the union, which is all that is known of a frame.
  static constexpr Readers readers() {
    Readers readers{};
    add(readers, FlockKinds{});
    add(readers, JobKinds{});
    add(readers, GangKinds{});
    add(readers, RunKinds{});
    return readers;
  }
  template <class Kind>
  Message body(const Frame& f) {
    return read(*f.body_as<Kind>());
  }
};

Message Decoder::message(const Frame& f) {
  static constexpr Readers kReaders = readers();
  static_assert(std::ranges::none_of(kReaders, [](Reader reader) { return reader == nullptr; }));
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
