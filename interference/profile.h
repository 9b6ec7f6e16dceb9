// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interference/speed.h"
#include "workload/job.h"

namespace starling {

/// The part of a job that its speed depends on, at the size it asks for. A job that trains by
/// parameter servers (workload/requirements.h) has servers_at() of them and divides one batch among
/// its workers however many they are; without, gradients are all-reduced and every worker has a
/// batch of its own.
[[nodiscard]] JobProfile profile_of(const JobSpec& spec);
/// The same with `gpus` GPUs, whole workers.
[[nodiscard]] JobProfile profile_of(const JobSpec& spec, std::uint32_t gpus);

/// The same of an attempt, for others to run beside: with as many parameter servers as its
/// allocation says.
[[nodiscard]] JobProfile profile_of(const JobSpec& spec, std::uint32_t gpus, const Allocation& how);

/// Time between a start and the first iteration, as a world charges it: Physics::startup_s() or, of
/// a job that says it, its own RunDetails::restore; and its own RunDetails::save where it has been
/// `served` before, for the stop that was. Nothing where starts cost nothing.
[[nodiscard]] Duration start_time(const Physics& physics, const JobSpec& spec,
                                  const JobProfile& profile, Duration served);

}  // namespace starling
