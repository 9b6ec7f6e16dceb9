// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/memo.h"
#include "policies/rank/rank_rule.h"
#include "scheduling/packing.h"
#include "scheduling/policy.h"

namespace starling {

/// How fast a kind of job is with each size that it may have, on each type of a partition; beyond
/// 64 workers with eight sizes for each doubling, and the largest.
struct RankSpeeds {
  std::vector<std::vector<RankSize>> sizes;  ///< by type, ascending; empty: cannot have it
  /// GPU time of a second of its work in its most frugal size, on the fastest type that it can
  /// have.
  double least_gpu_s = 1;
  double most = 0;           ///< the highest speed of all
  bool needs_types = false;  ///< no type holds it, and the partition does with several

  /// Nothing here ever will run it.
  [[nodiscard]] bool never() const;

  /// Of a size of that list; 0: there is none of so many.
  [[nodiscard]] double of(std::uint32_t type, std::uint32_t gpus) const;
};

/// Workers that a job may have: of one that is not elastic all that it asks for.
struct WorkerRange {
  std::uint32_t least = 1, most = 1;
};
[[nodiscard]] WorkerRange workers_of(const JobSpec& job);

/// What a GPU of each type of the topology is to be worth before it is given: its typical speed, in
/// V100s, to the power `exponent`. 1 for all: a fast GPU goes to the job that comes first.
[[nodiscard]] std::vector<double> type_costs(const Topology& topology, double exponent);

/// RankSpeeds by the speed model, on the placement that the empty partition has. Remembered by kind
/// of job until the model has learned.
class RankCurves {
 public:
  /// Without `resizes` every job has the size that it asks for, or none.
  explicit RankCurves(bool resizes = true) : resizes_(resizes) {}
  [[nodiscard]] std::shared_ptr<const RankSpeeds> of(const View& view, const Shape& shape,
                                                     const Occupancy& empty, const JobSpec& job);
  /// Grows when what of() said before is out of date.
  [[nodiscard]] std::uint64_t version(const View& view);

 private:
  /// Model, GPUs per worker, workers asked for, least, most, CPUs, memory, GPU types, details.
  using Kind = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                          double, double, std::vector<std::string>, RunDetails>;
  Memo<Kind, std::shared_ptr<const RankSpeeds>> known_;
  bool resizes_ = true;
  std::uint64_t model_ = 0;
};

/// On servers of that type: evenly over as few as hold it, else wherever there is room.
[[nodiscard]] std::optional<Placement> place_on_type(const Occupancy& gpus, const Shape& shape,
                                                     const JobSpec& job, std::uint32_t workers,
                                                     GpuTypeId type);

}  // namespace starling
