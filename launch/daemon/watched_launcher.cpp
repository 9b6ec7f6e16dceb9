// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/watched_launcher.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>

#include "launch/command_line/files.h"
#include "launch/command_line/log.h"

namespace starling {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(500);

}  // namespace

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

std::optional<Placement> WatchedLauncher::health_news() {
  const auto own = inner_.health_news();
  const bool file = look_at_file();
  if (own && *own != inner_sick_) {
    log_info(std::to_string(own->size()) + " GPUs are bad, says what starts jobs");
    inner_sick_ = *own;
  }
  if (!own && !file) return std::nullopt;
  Placement all;
  std::set_union(sick_.begin(), sick_.end(), inner_sick_.begin(), inner_sick_.end(),
                 std::back_inserter(all));
  return all;
}

bool WatchedLauncher::look_at_file() {
  const Instant now = clock_.now();
  if (now < next_) return false;
  next_ = later(now, kPause);
  std::error_code ignored;
  std::string text;
  if (std::filesystem::exists(file_, ignored)) {
    auto read = read_text(file_);
    if (!read) return false;  // it is being replaced
    text = std::move(read).value();
  }
  if (text == last_) return false;
  last_ = text;
  auto sick = parse_health(text, gpus_);
  if (!sick) {
    log_error(file_.string() + ": " + sick.error().message);
    return false;
  }
  if (sick.value() == sick_) return false;
  sick_ = std::move(sick).value();
  log_info(std::to_string(sick_.size()) + " GPUs are bad, says " + file_.string());
  return true;
}

}  // namespace starling
