// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/fragmentation.h"

#include <algorithm>
#include <array>
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

Fragmentation::Fragmentation(std::span<const PodDemand> target, std::size_t of) {
  for (const PodDemand& d : target) popularity_ += d.count;
  const auto all = static_cast<double>(of > 0 ? static_cast<std::int64_t>(of) : popularity_);
  const double covered = static_cast<double>(popularity_) / all;
  for (const PodDemand& d : target) {
    const double share = d.count / all / covered;
    wanted_.push_back({d.cpu_milli, d.memory_mib, d.models, kNoGpu, share});
    if (d.gpus == 0) continue;
    const std::uint32_t gpus = std::min(d.gpus, kNodeGpusMost + 1);  // no node has so many
    auto at = std::find_if(alike_.begin(), alike_.end(), [&](const Alike& a) {
      return a.gpus == gpus && a.gpu_milli == d.gpu_milli;
    });
    if (at == alike_.end()) at = alike_.insert(at, Alike{gpus, d.gpu_milli, {}});
    at->users.push_back({d.cpu_milli, d.memory_mib, d.models, d.count});
    wanted_.back().alike = static_cast<std::size_t>(at - alike_.begin());
  }
  STARLING_CHECK(popularity_ > 0 && alike_.size() <= kAlikeMost);
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

double Fragmentation::published(const FreeNode& node) const noexcept {
  struct Unusable {
    std::int64_t milli;
    bool enough;  ///< GPUs
  };
  std::array<Unusable, kAlikeMost> unusable;
  const std::int64_t left = node.total_gpu_milli();
  for (std::size_t i = 0; i < alike_.size(); ++i) {
    std::int64_t usable = 0;
    std::uint32_t gpus = 0;
    for (const std::uint16_t free : node.gpu_milli) {
      usable += free >= alike_[i].gpu_milli ? free : 0;
      gpus += free >= alike_[i].gpu_milli ? 1U : 0U;
    }
    unusable[i] = {left - usable, gpus >= alike_[i].gpus};
  }
  double lacks_both = 0, lacks_gpus = 0, lacks_cpus = 0, no_gpu = 0, no_gpu_nor_cpus = 0, model = 0;
  for (const Wanted& d : wanted_) {
    const bool has_means = d.cpu_milli <= node.cpu_milli && d.memory_mib <= node.memory_mib;
    if (d.alike == kNoGpu) {
      (has_means ? no_gpu : no_gpu_nor_cpus) += d.share * static_cast<double>(left);
    } else if (!has_model(node, d.models)) {
      model += d.share * static_cast<double>(left);
    } else if (!unusable[d.alike].enough) {
      (has_means ? lacks_gpus : lacks_both) += d.share * static_cast<double>(left);
    } else if (has_means) {
      lacks_gpus += d.share * static_cast<double>(unusable[d.alike].milli);
    } else {
      lacks_cpus += d.share * static_cast<double>(left);
    }
  }
  return lacks_both + lacks_gpus + lacks_cpus + no_gpu + no_gpu_nor_cpus + model;
}

}  // namespace starling
