#pragma once

#include <string_view>

namespace starling {

/// Training speed of one GPU of that type, in V100s. Told from how the name starts, in any case, so
/// A100-80GB is an A100; 1 for a type that is not known.
[[nodiscard]] double gpu_speed_factor(std::string_view type) noexcept;

}  // namespace starling
