// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/watched_launcher.h"

#include <algorithm>
#include <iterator>

#include "base/counted.h"
#include "launch/deployment/health_file.h"
#include "launch/system/files.h"
#include "launch/system/log.h"

namespace starling {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(500);

}  // namespace

std::optional<Placement> WatchedLauncher::health_news() {
  const auto own = inner_.health_news();
  const bool file = look_at_file();
  if (own && *own != inner_sick_) {
    log_info(counted(own->size(), "GPU is", "GPUs are") + " bad, says what starts jobs");
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
  log_info(counted(sick_.size(), "GPU is", "GPUs are") + " bad, says " + file_.string());
  return true;
}

}  // namespace starling
