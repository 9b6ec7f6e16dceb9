// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/frame_kind.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <variant>

#include "agents/message.h"
#include "bus/wire/frame.h"
#include "wire_generated.h"

namespace starling {
namespace {

/// Little-endian, wherever it stands; none: beyond the end.
template <class T>
std::optional<T> read(std::span<const std::byte> bytes, std::size_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  std::array<std::byte, sizeof(T)> raw{};
  std::memcpy(raw.data(), bytes.data() + at, sizeof(T));
  T value{};
  std::memcpy(&value, raw.data(), sizeof(T));
  return flatbuffers::EndianScalar(value);
}

}  // namespace

// Root offset; the table's distance to its vtable; there the field's distance to the table.
std::optional<std::size_t> kind_of_frame(std::span<const std::byte> frame) {
  const auto root = read<std::uint32_t>(frame, 0);
  if (!root || frame.size() < 8) return std::nullopt;
  if (std::memcmp(frame.data() + 4, wire::FrameIdentifier(), 4) != 0) return std::nullopt;
  const auto back = read<std::int32_t>(frame, *root);
  if (!back) return std::nullopt;
  const auto vtable = static_cast<std::size_t>(std::int64_t{*root} - *back);
  const auto size = read<std::uint16_t>(frame, vtable);
  if (!size || *size <= wire::Frame::VT_BODY_TYPE) return std::nullopt;
  const auto field = read<std::uint16_t>(frame, vtable + wire::Frame::VT_BODY_TYPE);
  if (!field || *field == 0) return std::nullopt;
  const auto kind = read<std::uint8_t>(frame, std::size_t{*root} + *field);
  if (!kind || *kind == 0 || *kind > std::variant_size_v<MessageKinds>) return std::nullopt;
  return std::size_t{*kind} - 1;
}

}  // namespace starling
