// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "topology/topology.h"

namespace starling {

/// GPU types that need no declaration, with their memory.
[[nodiscard]] std::span<const GpuType> known_gpu_types();
/// The known type of exactly this name.
[[nodiscard]] std::optional<GpuType> known_gpu_type(std::string_view name);
/// The known type that a vendor's or operator's label means: "Tesla V100-SXM3-32GB" is V100-32GB,
/// "nvidia_a100" is A100. The longest known name in it counts.
[[nodiscard]] std::optional<GpuType> gpu_type_in(std::string_view label);

}  // namespace starling
