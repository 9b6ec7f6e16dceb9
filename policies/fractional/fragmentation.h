// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/fractional/demand.h"

namespace starling {

/// What of one node is not allocated.
struct FreeNode {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::uint32_t model = 0;
  std::span<const std::uint16_t> gpu_milli;  ///< GPU by GPU

  [[nodiscard]] std::int64_t total_gpu_milli() const noexcept;
};

/// Does one pod fit: CPUs, memory, model, and on enough GPUs the share?
[[nodiscard]] bool fits(const FreeNode& node, const PodDemand& demand) noexcept;

/// The measure of Weng et al. ("Beware of Fragmentation", USENIX ATC 2023), relative to a target
/// workload M. For one demand m the fragments of node n are the unallocated GPU shares that m
/// cannot use: all of them if m does not fit on n (CPUs, memory, model, GPUs) or asks for no GPU,
/// else those on GPUs with less left than m takes of one. F_n is their mean over M by popularity;
/// that of the cluster is the sum over its nodes. All in whole numbers, as thousandths of a GPU
/// times popularity(): exact, so that sums may be kept up incrementally.
class Fragmentation {
 public:
  /// `of`: so many pods there are, of which the target may be the most popular ones; 0: it is all.
  explicit Fragmentation(std::span<const PodDemand> target, std::size_t of = 0);

  /// Of one node; 0 exactly if every demand could use all that is left. Allocates nothing.
  [[nodiscard]] std::int64_t of(const FreeNode& node) const noexcept;
  /// Of all demands together: what `of` counts a thousandth of a GPU as.
  [[nodiscard]] std::int64_t popularity() const noexcept { return popularity_; }
  [[nodiscard]] double gpus(std::int64_t fragments) const noexcept {
    return static_cast<double>(fragments) / static_cast<double>(popularity_) / kWholeGpu;
  }
  /// F_n in thousandths of a GPU with the rounding errors of the published simulator: sums by
  /// reason, demand by demand in the order of the target, and then of the reasons. Where a pod
  /// changes nothing, a last bit decides whether FGD's score is 49 or 50, and so which node is
  /// taken.
  [[nodiscard]] double published(const FreeNode& node) const noexcept;

 private:
  struct User {
    std::int64_t cpu_milli;
    std::int64_t memory_mib;
    ModelSet models;
    std::int64_t count;
  };
  /// Demands that ask for the same GPUs.
  struct Alike {
    std::uint32_t gpus;
    std::uint32_t gpu_milli;
    std::vector<User> users;
  };
  /// A demand in the order of the target.
  struct Wanted {
    std::int64_t cpu_milli;
    std::int64_t memory_mib;
    ModelSet models;
    std::size_t alike;  ///< kNoGpu, or of alike_
    double share;       ///< of all
  };
  static constexpr std::size_t kNoGpu = SIZE_MAX;
  static constexpr std::size_t kAlikeMost = 1002 + kNodeGpusMost;  ///< shares, and whole GPUs
  std::vector<Alike> alike_;                                       ///< those with a GPU
  std::vector<Wanted> wanted_;
  std::int64_t popularity_ = 0;
};

}  // namespace starling
