// SPDX-License-Identifier: Apache-2.0
// The smallest data centre in which a gang spans partitions.
#include <memory>

#include "base/check.h"
#include "interference/models.h"
#include "tests/search/world.h"
#include "topology/generate/generate.h"
#include "topology/partition.h"

namespace starling::search {
Setting::Setting(std::uint32_t gangs, Faults most, bool is_canary)
    : topology([] {
        GeneratorOptions flat;
        flat.servers = 2;
        flat.gpus_per_server = 1;
        return generate_flat(flat).value();
      }()),
      speed(make_flat_speed()),
      faults(most),
      canary(is_canary) {
  Timers timers;
  timers.heartbeat = timers.digest = timers.orphan = Duration::max();
  std::vector<PeerAgent> flock;
  const std::vector<Partition> parts = partition(topology, 2).value();
  for (const Partition& part : parts) {
    flock.push_back({AgentId{part.id.value}, part});
  }
  for (std::uint32_t i = 0; i < 2; ++i) {
    const IndexRange servers = flock[i].partition.servers;
    agents[i].me = AgentId{i};
    agents[i].flock = flock;
    agents[i].executors = {{executor_node(i), servers}};
    agents[i].timers = timers;
    executors[i].me = executor_node(i);
    executors[i].partition = flock[i].partition.id;
    executors[i].owner = AgentId{i};
    executors[i].servers = servers;
    executors[i].timers = timers;
    JobSpec job;
    job.id = JobId{0, i + 1};
    job.workers = i < gangs ? 2 : 1;
    job.duration = std::chrono::seconds(1);
    jobs.push_back(job);
  }
}

}  // namespace starling::search
