// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interference/speed.h"
#include "workload/job.h"

namespace starling {

/// The part of a job that its speed depends on, at the size it asks for. "resnet50 (parameter
/// servers)" as its model says that it exchanges by parameter servers, as many as workers, and
/// divides one batch among its workers however many they are; without that, gradients are
/// all-reduced and every worker has a batch of its own.
[[nodiscard]] JobProfile profile_of(const JobSpec& spec);
/// The same with `gpus` GPUs, whole workers.
[[nodiscard]] JobProfile profile_of(const JobSpec& spec, std::uint32_t gpus);

}  // namespace starling
