// SPDX-License-Identifier: Apache-2.0
#include "workload/gavel_throughput.h"

#include <algorithm>

namespace starling {
namespace {

constexpr auto kTypes = std::to_array<GavelJobType>({
#include "workload/gavel_throughput.inc"
});

}  // namespace

double GavelJobType::speed(GpuKind kind, std::uint32_t gpus) const noexcept {
  const auto type = static_cast<std::size_t>(kind);
  if (type >= steps_per_s.size()) return 0;
  for (std::size_t i = 0; i < 4; ++i) {
    if (gpus == 1U << i) return steps_per_s[type][i];
  }
  return 0;
}

std::string GavelJobType::job_model() const {
  const std::string name(model);
  return batch == 0 ? name : name + " (batch size " + std::to_string(batch) + ')';
}

std::span<const GavelJobType> gavel_job_types() noexcept { return kTypes; }

const GavelJobType* gavel_job_type(std::string_view model, std::uint32_t batch) noexcept {
  const auto at = std::find_if(kTypes.begin(), kTypes.end(), [&](const GavelJobType& type) {
    return type.model == model && type.batch == batch;
  });
  return at == kTypes.end() ? nullptr : &*at;
}

const GavelJobType* gavel_job_type(std::string_view job_model) {
  const auto at = std::find_if(kTypes.begin(), kTypes.end(), [&](const GavelJobType& type) {
    return type.job_model() == job_model;
  });
  return at == kTypes.end() ? nullptr : &*at;
}

}  // namespace starling
