// SPDX-License-Identifier: Apache-2.0
#include "sim/world/timeline.h"

namespace starling {

void Timeline::note(double at_s, std::uint32_t busy_gpus, std::uint32_t waiting) {
  if (last_.at_s >= 0 && last_.busy_gpus == busy_gpus && last_.waiting == waiting) return;
  if (last_.at_s >= 0 && at_s > last_.at_s) keep(last_);
  last_ = {at_s, busy_gpus, waiting};
}

std::vector<TimePoint> Timeline::points() const {
  std::vector<TimePoint> all = kept_;
  if (last_.at_s >= 0) all.push_back(last_);
  return all;
}

void Timeline::keep(const TimePoint& point) {
  if (seen_++ % stride_ != 0) return;
  kept_.push_back(point);
  if (kept_.size() + 1 < limit_) return;
  for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
  kept_.resize((kept_.size() + 1) / 2);
  stride_ *= 2;
}

}  // namespace starling
