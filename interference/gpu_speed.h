// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace starling {

/// Training speed of a typical job on one GPU of that type, in V100s; see workload/gpu_kind.h. What
/// a model itself does there, the catalogue's speed_on says.
[[nodiscard]] double gpu_speed_factor(std::string_view type) noexcept;

}  // namespace starling
