// SPDX-License-Identifier: Apache-2.0
#include "interference/gpu_speed.h"

#include "workload/gpu_kind.h"

namespace starling {

double gpu_speed_factor(std::string_view type) noexcept { return typical_speed(gpu_kind(type)); }

}  // namespace starling
