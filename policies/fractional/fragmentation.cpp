// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/fragmentation.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace starling {
namespace {

bool has_model(const FreeNode& node, ModelSet models) noexcept {
  return ((models >> node.model) & 1U) != 0;
}

}  // namespace

std::int64_t FreeNode::total_gpu_milli() const noexcept {
  return std::accumulate(gpu_milli.begin(), gpu_milli.end(), std::int64_t{0});
}

bool fits(const FreeNode& node, const PodDemand& demand) noexcept {
  if (node.cpu_milli < demand.cpu_milli || node.memory_mib < demand.memory_mib) return false;
  if (demand.gpus == 0) return true;
  if (!has_model(node, demand.models)) return false;
  std::uint32_t usable = 0;
  for (const std::uint16_t free : node.gpu_milli) usable += free >= demand.gpu_milli ? 1U : 0U;
  return usable >= demand.gpus;
}

Fragmentation::Fragmentation(std::span<const PodDemand> target) {
  for (const PodDemand& d : target) {
    popularity_ += d.count;
    if (d.gpus == 0) continue;
    auto at = std::find_if(alike_.begin(), alike_.end(), [&](const Alike& a) {
      return a.gpus == d.gpus && a.gpu_milli == d.gpu_milli;
    });
    if (at == alike_.end()) at = alike_.insert(at, Alike{d.gpus, d.gpu_milli, {}});
    at->users.push_back({d.cpu_milli, d.memory_mib, d.models, d.count});
  }
  STARLING_CHECK(popularity_ > 0);
}

std::int64_t Fragmentation::of(const FreeNode& node) const noexcept {
  const std::int64_t total = node.total_gpu_milli();
  if (total == 0) return 0;
  // From "all is useless to everybody", take what each demand that fits can use.
  std::int64_t fragments = total * popularity_;
  for (const Alike& alike : alike_) {
    std::int64_t usable = 0;
    std::uint32_t gpus = 0;
    for (const std::uint16_t free : node.gpu_milli) {
      if (free < alike.gpu_milli) continue;
      usable += free;
      ++gpus;
    }
    if (gpus < alike.gpus) continue;
    std::int64_t users = 0;
    for (const User& user : alike.users) {
      const bool fit = user.cpu_milli <= node.cpu_milli && user.memory_mib <= node.memory_mib &&
                       has_model(node, user.models);
      users += fit ? user.count : 0;
    }
    fragments -= usable * users;
  }
  return fragments;
}

}  // namespace starling
