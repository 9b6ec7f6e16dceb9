// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace starling {

/// GPU types whose speed the catalogue knows.
enum class GpuKind : std::uint8_t { k80, p100, v100, t4, a100, h100, other };
constexpr std::size_t kGpuKinds = 6;  ///< without `other`

/// Told from how the name starts, in any case, so A100-80GB is an A100 and V100M32 a V100.
[[nodiscard]] GpuKind gpu_kind(std::string_view type) noexcept;

/// Training speed of a typical job on one GPU, in V100s; 1 for `other`.
[[nodiscard]] double typical_speed(GpuKind kind) noexcept;

}  // namespace starling
