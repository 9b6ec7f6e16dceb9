// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/host_list.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/limits.h"

namespace starling {
namespace {

Error invalid(std::string_view text) {
  return {Errc::invalid, "cannot read the names '" + std::string(text.substr(0, 60)) +
                             "'; write a name or a range such as gpu[01-16,20]"};
}

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string padded(std::uint64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

// All names of one item: what stands before the first bracket times the rest.
bool expand(std::string_view item, const std::string& before, std::vector<std::string>& names) {
  const std::size_t open = item.find('[');
  if (open == std::string_view::npos) {
    names.push_back(before + std::string(item));
    const std::string& name = names.back();
    return !name.empty() && name.size() <= Limits{}.name_bytes &&
           std::none_of(name.begin(), name.end(), [](char c) {
             return static_cast<unsigned char>(c) <= 0x20 || c == ']' || c == '{' || c == '}';
           });
  }
  const std::size_t close = item.find(']', open);
  if (close == std::string_view::npos || close == open + 1) return false;
  std::string_view ranges = item.substr(open + 1, close - open - 1);
  while (true) {
    const std::string_view range = ranges.substr(0, ranges.find(','));
    const std::string_view low = range.substr(0, range.find('-'));
    const std::string_view high = low.size() == range.size() ? low : range.substr(low.size() + 1);
    const auto first = whole(low);
    const auto last = whole(high);
    if (!first || !last || *last < *first || *last - *first >= Limits{}.gpus_total) return false;
    for (std::uint64_t i = *first; i <= *last; ++i) {
      if (names.size() >= Limits{}.gpus_total ||
          !expand(item.substr(close + 1),
                  before + std::string(item.substr(0, open)) + padded(i, low.size()), names)) {
        return false;
      }
    }
    if (range.size() == ranges.size()) return true;
    ranges.remove_prefix(range.size() + 1);
  }
}

}  // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view text) {
  std::vector<std::string> names;
  std::string_view rest = text;
  while (true) {
    std::size_t end = 0;
    for (int depth = 0; end < rest.size() && (rest[end] != ',' || depth > 0); ++end) {
      depth += rest[end] == '[' ? 1 : rest[end] == ']' ? -1 : 0;
    }
    if (!expand(rest.substr(0, end), "", names)) return invalid(text);
    if (end == rest.size()) return names;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace starling
