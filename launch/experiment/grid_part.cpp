// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/grid_part.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/short_number.h"

namespace starling {
namespace {

constexpr std::uint32_t kPartsMax = 1'000'000;

bool read_number(const std::string& text, std::uint32_t& number) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && at == end;
}

}  // namespace

Result<GridPart> read_part(const std::string& text) {
  GridPart part;
  const std::size_t slash = text.find('/');
  const bool read = slash != std::string::npos && read_number(text.substr(0, slash), part.number) &&
                    read_number(text.substr(slash + 1), part.of);
  if (!read || part.number < 1 || part.number > part.of || part.of > kPartsMax)
    return {Errc::invalid, "'" + text + "' is no part; write 1/4 to 4/4 for four parts"};
  return part;
}

std::string text_of(const GridPart& part) {
  return std::to_string(part.number) + "/" + std::to_string(part.of);
}

std::vector<std::size_t> runs_of(const std::vector<RunPoint>& points, const GridPart& part) {
  std::vector<std::size_t> all(points.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (part.whole()) return all;
  std::sort(all.begin(), all.end(),
            [&](std::size_t a, std::size_t b) { return points[a].id < points[b].id; });
  std::vector<std::size_t> mine;
  for (std::size_t rank = part.number - 1; rank < all.size(); rank += part.of)
    mine.push_back(all[rank]);
  std::sort(mine.begin(), mine.end());
  return mine;
}

std::string in_words(const RunPoint& point) {
  return point.label + " on " + point.topology +
         (point.faults.empty() ? "" : " (faults " + point.faults + ")") + ", " + point.workload +
         ", load " + (point.load > 0 ? short_number(point.load) : "as-is") + ", seed " +
         std::to_string(point.seed);
}

}  // namespace starling
