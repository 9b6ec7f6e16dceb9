// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "workload/gpu_kind.h"

namespace starling {

/// One of the 26 job types of Gavel (OSDI 2020), with its measured speed alone on 1, 2, 4 and 8
/// GPUs of a type in mini-batches per second; 0: not given, or it does not fit. The batch is per
/// GPU; 0: not applicable.
struct GavelJobType {
  std::string_view model;  ///< as the published files write it: ResNet-18, LM, ...
  std::uint32_t batch = 0;
  std::array<std::array<double, 4>, 3> steps_per_s{};  ///< [K80, P100, V100][1, 2, 4, 8 GPUs]

  /// 0 where nothing was measured: another GPU type, or a number of GPUs that is not 1, 2, 4 or 8.
  [[nodiscard]] double speed(GpuKind kind, std::uint32_t gpus) const noexcept;
  /// Whether it was measured on more than one GPU.
  [[nodiscard]] bool multi_gpu() const noexcept { return steps_per_s[2][1] > 0; }
  /// The model name of its jobs: "ResNet-18 (batch size 64)", or "A3C" without a batch.
  [[nodiscard]] std::string job_model() const;
};

/// All types, by model and batch.
[[nodiscard]] std::span<const GavelJobType> gavel_job_types() noexcept;
/// By model and batch, or by the name that job_model() gives; null if there is none.
[[nodiscard]] const GavelJobType* gavel_job_type(std::string_view model,
                                                 std::uint32_t batch) noexcept;
[[nodiscard]] const GavelJobType* gavel_job_type(std::string_view job_model);

}  // namespace starling
