// SPDX-License-Identifier: Apache-2.0
#include "topology/placement_text.h"

#include <charconv>
#include <cstddef>
#include <cstdint>

namespace starling {

std::string placement_text(const Placement& gpus) {
  std::string text;
  for (std::size_t i = 0; i < gpus.size();) {
    std::size_t last = i;
    while (last + 1 < gpus.size() && gpus[last + 1].value == gpus[last].value + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(gpus[i].value);
    if (last > i) text += '-' + std::to_string(gpus[last].value);
    i = last + 1;
  }
  return text;
}

std::vector<IndexRange> gpu_ranges(const std::string& text) {
  std::vector<IndexRange> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::uint32_t first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) break;
    std::uint32_t last = first;
    if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    out.push_back({first, last + 1});
    at = read.ptr < end ? read.ptr + 1 : end;
  }
  return out;
}

}  // namespace starling
