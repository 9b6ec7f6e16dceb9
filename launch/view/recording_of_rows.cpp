// SPDX-License-Identifier: Apache-2.0
#include "launch/view/recording_of_rows.h"

#include <algorithm>

#include "topology/partition.h"
#include "topology/placement_text.h"

namespace starling {

Recording recording_of(const RunResult& run, const Topology& topology) {
  Recording all{topology, {}, {}, run.policy, run.workload};
  all.seed = run.seed;
  if (const auto parts = partition(topology, run.agents); parts.ok()) {
    for (const Partition& part : parts.value()) all.agents.push_back(part.servers);
  }
  for (const JobRow& row : run.jobs) {
    const auto job = static_cast<std::uint32_t>(all.jobs.size());
    all.jobs.push_back({row.name, row.model, row.submit_s, row.finish_s, row.state, row.gpus,
                        row.agent, row.forwards, row.duration_s});
    all.end_s = std::max({all.end_s, row.submit_s, row.start_s, row.finish_s});
    if (row.start_s < 0) continue;
    Recording::Share share{job, 0, row.start_s, row.finish_s, {}, false};
    for (const IndexRange& range : gpu_ranges(row.placement)) {
      for (std::uint32_t gpu = range.first; gpu < range.last; ++gpu) share.gpus.emplace_back(gpu);
    }
    all.shares.push_back(std::move(share));
  }
  return all;
}

}  // namespace starling
