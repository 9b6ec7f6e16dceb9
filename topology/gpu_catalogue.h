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

}  // namespace starling
