// SPDX-License-Identifier: Apache-2.0
#include "agents/start_record.h"

#include <algorithm>

namespace starling {
namespace {

constexpr std::size_t kMostSaid = 300;

}  // namespace

void StartRecord::began(Instant now) {
  if (failures_ >= kFailures && !resting()) probe_ = later(now, kProven);
}

void StartRecord::failed(Instant now, const std::string& why) {
  ++failures_;
  why_ = why.substr(0, kMostSaid);
  probe_ = kNever;
  if (failures_ < kFailures || until_ != kNever) return;
  rest_ = rest_ == Duration{0} ? kFirstRest : std::min<Duration>(2 * rest_, kLongestRest);
  until_ = later(now, rest_);
}

void StartRecord::went_well() {
  failures_ = 0;
  rest_ = Duration{0};
  until_ = probe_ = kNever;
  why_.clear();
}

bool StartRecord::tick(Instant now) {
  if (until_ <= now) {
    until_ = kNever;
    return !resting();
  }
  if (probe_ > now) return false;
  went_well();
  return true;
}

std::string StartRecord::text(Instant now) const {
  if (failures_ < kFailures) return "";
  std::string next = "the next start is a probe";
  if (probe_ != kNever) next = "one start is being tried";
  if (until_ != kNever) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(std::max(until_ - now, Duration{}));
    next = "tried again in " + std::to_string(left.count()) + " s";
  }
  return std::to_string(failures_) + " starts in a row have failed, the last: " + why_ + "; " +
         next;
}

}  // namespace starling
