// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policies/fractional/pack_run.h"

namespace starling {

/// What one policy did with the pods.
struct PackRun {
  std::string policy;
  std::vector<PackEvent> events;  ///< at least one
  double place_s = 0;             ///< wall time of placing, with the figures of every event
};

/// What all runs of one command have in common.
struct PackInput {
  std::string nodes_name, pods_name, order;
  const ClusterSpec& cluster;
  std::span<const Pod> pods;
  const Fragmentation& measure;
  std::uint64_t seed = 1;
  double inflate = 0;
  double read_s = 0;  ///< wall time of reading both files
};

/// policy,step,event,pod,node,gpus,arrived_gpu_milli,arrived_percent,allocated_gpu_milli,
/// fragmented_gpu_milli,fragmented_percent,unscheduled: a row an event. `gpus` are numbers within
/// the node with | between them; arrived_percent is of all GPUs, fragmented_percent of those that
/// are not allocated.
[[nodiscard]] std::string pack_csv(const PackInput& input, std::span<const PackRun> runs);
/// {"schema": 1, ..., "runs": [{...}]}
[[nodiscard]] std::string pack_json(const PackInput& input, std::span<const PackRun> runs);
[[nodiscard]] std::string pack_table(const PackInput& input, std::span<const PackRun> runs);
/// Curves over the GPUs asked for so far: what is not allocated, and what of it is fragmented.
[[nodiscard]] std::string pack_svg(const PackInput& input, std::span<const PackRun> runs);

}  // namespace starling
