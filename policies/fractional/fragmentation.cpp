// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/fragmentation.h"

#include <numeric>

#include "base/check.h"

namespace starling {
namespace {

bool has_model(const FreeNode& node, ModelSet models) noexcept {
  return ((models >> node.model) & 1U) != 0;
}

}  // namespace

bool fits(const FreeNode& node, const PodDemand& demand) noexcept {
  if (node.cpu_milli < demand.cpu_milli || node.memory_mib < demand.memory_mib) return false;
  if (demand.gpus == 0) return true;
  if (!has_model(node, demand.models)) return false;
  std::uint32_t usable = 0;
  for (const std::uint16_t free : node.gpu_milli) usable += free >= demand.gpu_milli ? 1U : 0U;
  return usable >= demand.gpus;
}

Fragmentation::Fragmentation(const Demands& target) {
  for (std::uint32_t k = 0; k < target.kinds.size(); ++k) {
    const auto first = static_cast<std::uint32_t>(users_.size());
    for (const PodDemand& d : target.all) {
      if (d.kind != k) continue;
      popularity_ += d.count;
      if (d.gpus > 0) users_.push_back({d.cpu_milli, d.memory_mib, d.models, d.count});
    }
    const auto last = static_cast<std::uint32_t>(users_.size());
    if (last > first) kinds_.push_back({target.kinds[k], first, last});
  }
  STARLING_CHECK(popularity_ > 0);
}

std::int64_t Fragmentation::of(const FreeNode& node) const noexcept {
  const std::int64_t total =
      std::accumulate(node.gpu_milli.begin(), node.gpu_milli.end(), std::int64_t{0});
  if (total == 0) return 0;
  // From "all is useless to everybody", take what each demand that fits can use.
  std::int64_t fragments = total * popularity_;
  for (const Kind& kind : kinds_) {
    std::int64_t usable = 0;
    std::uint32_t gpus = 0;
    for (const std::uint16_t free : node.gpu_milli) {
      if (free < kind.gpu.gpu_milli) continue;
      usable += free;
      ++gpus;
    }
    if (gpus < kind.gpu.gpus) continue;
    std::int64_t users = 0;
    for (std::uint32_t i = kind.first; i < kind.last; ++i) {
      const User& user = users_[i];
      const bool fit = user.cpu_milli <= node.cpu_milli && user.memory_mib <= node.memory_mib &&
                       has_model(node, user.models);
      users += fit ? user.count : 0;
    }
    fragments -= usable * users;
  }
  return fragments;
}

}  // namespace starling
