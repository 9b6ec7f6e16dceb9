// SPDX-License-Identifier: Apache-2.0
#include "agents/home/never_fits.h"

#include <algorithm>
#include <cstdint>

#include "agents/parts/means.h"
#include "base/counted.h"

namespace starling {

std::string never_fits(const AgentState& s, const JobSpec& spec) {
  std::uint64_t fitting = 0;
  std::uint32_t largest = 0;
  const auto& types = s.topology.gpu_types();
  const auto allowed = [&](std::size_t type) {
    const auto& named = spec.gpu_types;
    return named.empty() || std::find(named.begin(), named.end(), types[type].name) != named.end();
  };
  for (std::size_t type = 0; type < s.supply.size(); ++type) {
    if (!allowed(type)) continue;
    fitting += s.supply[type].gpus;
    largest = std::max(largest, s.supply[type].largest_server);
  }
  std::string kind;
  for (const std::string& type : spec.gpu_types)
    kind += (kind.empty() ? " of type " : " or ") + type;
  if (fitting < spec.gpus()) {
    return "needs " + counted(spec.gpus(), "GPU") + kind + "; the data centre has " +
           std::to_string(fitting);
  }
  if (spec.workers > 1 && spec.gpus_per_worker > largest) {
    return "needs " + counted(spec.gpus_per_worker, "GPU") + kind +
           " for each worker; the largest server has " + std::to_string(largest);
  }
  if (std::string lack = lacks_means(s.topology, spec); !lack.empty()) return lack;
  if (spec.workers == 1 || spec.gpus_per_worker <= 1) return {};
  // Servers of unequal size: enough GPUs in all, and still too few places for whole workers.
  std::uint64_t places = 0;
  for (const Server& server : s.topology.servers()) {
    if (server.gpus.size() == 0 || !allowed(server.gpu_type.value)) continue;
    places += server.gpus.size() / spec.gpus_per_worker;
    if (places >= spec.workers) return {};
  }
  return "needs " + counted(spec.workers, "worker") + " of " +
         counted(spec.gpus_per_worker, "GPU") + kind + "; the servers hold " +
         std::to_string(places);
}

}  // namespace starling
