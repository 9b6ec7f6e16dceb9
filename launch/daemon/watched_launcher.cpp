// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/watched_launcher.h"

#include <algorithm>
#include <iterator>

#include "base/counted.h"
#include "launch/deployment/health_file.h"
#include "launch/system/log.h"
#include "launch/system/plain_file.h"

namespace starling {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(500);

}  // namespace

std::optional<SickGpus> WatchedLauncher::health_news() {
  auto own = inner_.health_news();
  const bool file = look_at_file();
  if (own) take(std::move(*own));
  if (!own && !file) return std::nullopt;
  SickGpus all{{}, inner_sick_.in_use};
  std::set_union(sick_.begin(), sick_.end(), inner_sick_.gpus.begin(), inner_sick_.gpus.end(),
                 std::back_inserter(all.gpus));
  return all;
}

void WatchedLauncher::take(SickGpus own) {
  if (own.gpus != inner_sick_.gpus)
    log_info(counted(own.gpus.size(), "GPU is", "GPUs are") + " bad, says what starts jobs");
  if (own.in_use != inner_sick_.in_use)
    log_info(counted(own.in_use.size(), "GPU is", "GPUs are") + " in use by what ran here before");
  inner_sick_ = std::move(own);
}

bool WatchedLauncher::look_at_file() {
  const Instant now = clock_.now();
  if (now < next_) return false;
  next_ = later(now, kPause);
  std::error_code ignored;
  std::string text;
  if (std::filesystem::exists(file_, ignored)) {
    auto read = read_plain(file_);
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
