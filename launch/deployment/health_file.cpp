// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/health_file.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace starling {

Result<Placement> parse_health(const std::string& text, IndexRange gpus) {
  Placement sick;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) {
      std::uint32_t gpu = 0;
      const auto [end, wrong] = std::from_chars(word.data(), word.data() + word.size(), gpu);
      if (wrong != std::errc{} || end != word.data() + word.size() || !gpus.contains(gpu)) {
        return {Errc::invalid, "line " + std::to_string(number) + ": '" + word +
                                   "' is no GPU of this executor, which has " +
                                   std::to_string(gpus.first) + " to " +
                                   std::to_string(gpus.last - 1)};
      }
      sick.push_back(GpuId{gpu});
    }
  }
  std::sort(sick.begin(), sick.end());
  sick.erase(std::unique(sick.begin(), sick.end()), sick.end());
  return sick;
}

}  // namespace starling
