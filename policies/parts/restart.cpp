// SPDX-License-Identifier: Apache-2.0
#include "policies/parts/restart.h"

#include <algorithm>

namespace starling {

double restart_cost_s(const JobSpec& job, double otherwise) {
  const double own = seconds(job.run.save + job.run.restore);
  return own > 0 ? own : otherwise;
}

double restart_factor(double age_s, double spent_s, double delay_s) noexcept {
  const double whole_s = age_s + delay_s;
  if (whole_s <= 0) return 1;
  return std::max(age_s - spent_s, 0.0) / std::max(whole_s, 1e-9);
}

}  // namespace starling
