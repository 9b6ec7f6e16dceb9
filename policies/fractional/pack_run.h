// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "policies/fractional/packer.h"
#include "workload/traces/pod_list.h"

namespace starling {

/// A pod comes or leaves; an index into the list of pods, in which one may come several times.
struct PackStep {
  std::uint32_t pod = 0;
  bool leaves = false;
  std::uint32_t arrival = 0;  ///< which arrival it is, from 0; a pod leaves with its own number
};

struct ArrivalOptions {
  bool shuffle = false;  ///< in random order, else in that of the list
  /// Above 0: as many pods as ask for this share of all GPUs. Pods drawn from the list at random,
  /// with replacement, are added; or, where the list asks for more, the last ones are left out.
  double inflate = 0;
};

/// Which pods come, in which order. None leaves. `invalid` where pods without a GPU would have to
/// be inflated.
[[nodiscard]] Result<std::vector<PackStep>> pack_arrivals(std::span<const Pod> pods,
                                                          std::int64_t cluster_gpu_milli,
                                                          const ArrivalOptions& options, Rng rng);
/// Pods come when they were created and leave when they were deleted; at one instant they leave
/// first, then others come in the order of the list.
[[nodiscard]] std::vector<PackStep> pack_lifetimes(std::span<const Pod> pods);

/// How things stand after a step.
struct PackEvent {
  enum class What : std::uint8_t { placed, unscheduled, left };
  std::uint32_t pod = 0;
  What what = What::placed;
  Placed where;                        ///< unless unscheduled
  std::int64_t arrived_gpu_milli = 0;  ///< asked for by all pods that have come
  std::int64_t allocated_gpu_milli = 0;
  std::int64_t fragments = 0;     ///< in the unit of Fragmentation::of
  std::uint32_t unscheduled = 0;  ///< pods that found no place so far; they do not try again
};

/// Runs the steps. A pod that found no place does not leave either: no event. `progress` is called
/// now and then with the number of steps that are done.
[[nodiscard]] std::vector<PackEvent> pack(Packer& packer, const Demands& demands,
                                          std::span<const PackStep> steps,
                                          const std::function<void(std::size_t)>& progress);

}  // namespace starling
