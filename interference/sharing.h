// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workload/catalogue.h"

namespace starling {

/// The speed of a job, as a part of alone, beside another on one GPU of that kind:
///
///   keeps(own) + leaves(other) + sum of three products sensitive(own) * rough(other), in [0.03, 1]
///
/// Fitted by interference/fit to Gavel's pairs of 2020, per job type (model and batch size) on K80,
/// P100 and V100; other kinds are taken for V100s, and all other models have the medians. Errors:
/// docs/results/physics.md.
[[nodiscard]] double sharing_speed(const ModelProfile& own, const ModelProfile& other,
                                   GpuKind kind) noexcept;

}  // namespace starling
