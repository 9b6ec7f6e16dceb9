// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/fuzz/frame_mutator.h"

namespace starling::fuzz {
namespace {

using Kind = BaseFrame::Kind;

/// Follows offsets from table to table.
class Walk {
 public:
  explicit Walk(BaseFrame& frame) : frame_(frame), bytes_(frame.bytes) {}

  void root() {
    if (bytes_.size() < 12) return;
    mark(0, Kind::offset);
    table(load<std::uint32_t>(0), 0);
  }

 private:
  static constexpr int kDeepest = 6;

  template <class T>
  T load(std::size_t at) const {
    T out{};
    if (inside(at, sizeof out)) std::memcpy(&out, bytes_.data() + at, sizeof out);
    return out;
  }
  bool inside(std::size_t at, std::size_t bytes) const { return at + bytes <= bytes_.size(); }
  void mark(std::size_t at, Kind kind) {
    if (frame_.spots.size() < BaseFrame::kMostSpots)
      frame_.spots.push_back({static_cast<std::uint32_t>(at), kind});
  }
  /// Where the fields of the table at `t` are listed; 0 if there is no table.
  std::size_t fields_of(std::size_t t) const {
    if (t % 4 != 0 || !inside(t, 4)) return 0;
    const auto list = static_cast<std::int64_t>(t) - load<std::int32_t>(t);
    if (list <= 0 || list % 2 != 0 || !inside(static_cast<std::size_t>(list), 4)) return 0;
    const auto at = static_cast<std::size_t>(list);
    const std::size_t bytes = load<std::uint16_t>(at);
    return bytes >= 4 && bytes % 2 == 0 && inside(at, bytes) ? at : 0;
  }

  void table(std::size_t t, int depth) {
    const std::size_t list = fields_of(t);
    if (list == 0 || depth > kDeepest || frame_.spots.size() >= BaseFrame::kMostSpots) return;
    mark(t, Kind::table);
    const std::size_t end = list + load<std::uint16_t>(list);
    for (std::size_t entry = list; entry < end; entry += 2) mark(entry, Kind::entry);
    for (std::size_t entry = list + 4; entry < end; entry += 2) {
      const std::size_t field = load<std::uint16_t>(entry);
      if (field != 0) word(t + field, depth);
    }
  }
  void word(std::size_t at, int depth) {
    if (!inside(at, 4)) return;
    const std::size_t target = at + load<std::uint32_t>(at);
    if (at % 4 != 0 || target < at + 4 || target % 4 != 0 || !inside(target, 4)) {
      return mark(at, Kind::value);
    }
    mark(at, Kind::offset);
    if (fields_of(target) != 0) return table(target, depth + 1);
    mark(target, Kind::length);
    const std::size_t count = load<std::uint32_t>(target);
    if (depth > kDeepest || !inside(target + 4, count * 4)) return;
    for (std::size_t i = 0; i < count && i < 8; ++i) word(target + 4 + i * 4, depth + 1);
  }

  BaseFrame& frame_;
  const FrameBytes& bytes_;
};

}  // namespace

BaseFrame::BaseFrame(std::span<const std::byte> frame) : bytes(frame.begin(), frame.end()) {
  Walk(*this).root();
}

}  // namespace starling::fuzz
