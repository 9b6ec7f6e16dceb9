// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/job.h"

namespace starling {

/// Seconds that stopping and starting it costs: as the job says itself, else `otherwise`.
[[nodiscard]] double restart_cost_s(const JobSpec& job, double otherwise);

/// What is left of the speedup of a job of that age that restarts once more, so that those that
/// restarted often are left alone: (age - spent) / (age + delay), `spent` in restarts so far;
/// in [0, 1], and 1 of a job that has no age yet and whose restarts cost nothing (Pollux, OSDI
/// 2021; Sia, SOSP 2023).
[[nodiscard]] double restart_factor(double age_s, double spent_s, double delay_s) noexcept;

}  // namespace starling
