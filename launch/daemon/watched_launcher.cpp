// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/watched_launcher.h"

#include <algorithm>
#include <iterator>

#include "base/counted.h"
#include "launch/deployment/health_file.h"
#include "launch/hardware/energy_book.h"
#include "launch/system/log.h"
#include "launch/system/plain_file.h"

namespace starling {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(500);

Placement both(const Placement& a, const Placement& b) {
  Placement all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

}  // namespace

std::optional<SickGpus> WatchedLauncher::health_news() {
  auto own = inner_.health_news();
  const Instant now = clock_.now();
  bool news = own.has_value();
  if (now >= next_) {
    next_ = later(now, kPause);
    news = look_at_file() || news;
    news = look_at_report() || news;
  }
  if (own) take(std::move(*own));
  if (!news) return std::nullopt;
  SickGpus all{both(sick_, inner_sick_.gpus), inner_sick_.in_use};
  if (report_ != nullptr) {
    all.gpus = both(all.gpus, report_->sick().gpus);
    all.in_use = both(all.in_use, report_->sick().in_use);
  }
  return all;
}

bool WatchedLauncher::look_at_report() {
  if (report_ == nullptr) return false;
  const bool news = report_->look(clock_.now());
  // At first also where there are none: an earlier life may have left some.
  if (!news && told_) return false;
  told_ = true;
  if (const Status told = write_findings(file_.parent_path(), report_->findings()); !told.ok())
    log_error(told.error().message);
  return news;
}

Status WatchedLauncher::start(const LaunchSpec& spec) {
  Status started = inner_.start(spec);
  if (report_ != nullptr && started.ok()) report_->started(spec, clock_.now());
  return started;
}

void WatchedLauncher::adopt(std::span<const LaunchSpec> ran) {
  inner_.adopt(ran);
  for (const LaunchSpec& spec : ran)
    if (report_ != nullptr) report_->started(spec, clock_.now());
}

std::vector<Exit> WatchedLauncher::reap() {
  std::vector<Exit> ends = inner_.reap();
  for (const Exit& end : ends) {
    if (report_ == nullptr) break;
    if (const double joules = report_->ended(end); joules >= 0)
      note_energy(file_.parent_path(), end.attempt, joules);
  }
  // GPUs of a drained server that are free now are told before a next job is sent there.
  if (report_ != nullptr && !ends.empty()) next_ = Instant::min();
  return ends;
}

void WatchedLauncher::take(SickGpus own) {
  if (own.gpus != inner_sick_.gpus)
    log_info(counted(own.gpus.size(), "GPU is", "GPUs are") + " bad, says what starts jobs");
  if (own.in_use != inner_sick_.in_use)
    log_info(counted(own.in_use.size(), "GPU is", "GPUs are") + " in use by what ran here before");
  inner_sick_ = std::move(own);
}

bool WatchedLauncher::look_at_file() {
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
