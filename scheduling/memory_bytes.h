// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace starling {

/// Bytes for Policy::save(): words of 64 bits, the lowest byte first.
class MemoryWriter {
 public:
  void word(std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void number(double value) { word(std::bit_cast<std::uint64_t>(value)); }
  void span(Duration value) { word(static_cast<std::uint64_t>(value.count())); }
  void instant(Instant at, Instant origin) { span(at - origin); }
  void job(const JobId& id) { word(id.hi), word(id.lo); }
  void text(std::string_view value) {
    word(value.size());
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
    while (bytes_.size() % 8 != 0) bytes_.push_back(std::byte{0});
  }
  template <class Numbers>
  void numbers(const Numbers& values) {
    word(values.size());
    for (const double value : values) number(value);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }
  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads them again and trusts nothing: after the first thing that cannot be, all it reads is 0 and
/// ok() says so. Never reads, or makes room for, more than there is.
class MemoryReader {
 public:
  explicit MemoryReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t word() {
    if (bytes_.size() < 8) return fail(), 0;
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i) value |= static_cast<std::uint64_t>(bytes_[i]) << (8 * i);
    bytes_ = bytes_.subspan(8);
    return value;
  }
  /// A finite one in [least, most].
  [[nodiscard]] double number(double least, double most) {
    const double value = std::bit_cast<double>(word());
    if (!(value >= least && value <= most)) return fail(), 0.0;
    return value;
  }
  /// Within a hundred years either way.
  [[nodiscard]] Duration span() {
    const Duration value(static_cast<std::int64_t>(word()));
    if (value > kLongest || value < -kLongest) return fail(), Duration{0};
    return value;
  }
  [[nodiscard]] Instant instant(Instant origin) { return origin + span(); }
  [[nodiscard]] JobId job() {
    const std::uint64_t hi = word();
    return {hi, word()};
  }
  [[nodiscard]] std::string text(std::size_t most) {
    const std::uint64_t size = word();
    if (size > most || size > bytes_.size()) return fail(), std::string();
    const std::uint64_t whole = (size + 7) / 8 * 8;
    if (whole > bytes_.size()) return fail(), std::string();
    std::string value(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(whole);
    return value;
  }
  /// How many parts of at least `words` words each follow.
  [[nodiscard]] std::size_t count(std::size_t most, std::size_t words) {
    const std::uint64_t value = word();
    if (value > most || value > bytes_.size() / (8 * words)) return fail(), std::size_t{0};
    return value;
  }
  [[nodiscard]] std::vector<double> numbers(std::size_t most, double least, double largest) {
    std::vector<double> values(count(most, 1));
    for (double& value : values) value = number(least, largest);
    return values;
  }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return bytes_; }
  void fail() noexcept { ok_ = false, bytes_ = {}; }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  /// Nothing was wrong, and nothing is left.
  [[nodiscard]] bool whole() const noexcept { return ok_ && bytes_.empty(); }

 private:
  static constexpr Duration kLongest = std::chrono::hours(24 * 36'500);
  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

}  // namespace starling
