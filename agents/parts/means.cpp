// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/means.h"

#include <algorithm>
#include <cstdint>

#include "base/counted.h"
#include "base/short_number.h"
#include "scheduling/digest_rooms.h"
#include "workload/requirements.h"

namespace starling {
namespace {

std::string needs_of(const JobSpec& spec) {
  std::string need;
  if (const double cpus = cpus_of_worker(spec); cpus > 0) need = short_number(cpus) + " CPUs";
  if (spec.memory_gib_per_worker > 0)
    need += (need.empty() ? "" : " and ") + short_number(spec.memory_gib_per_worker) + " GiB";
  return need;
}

}  // namespace

std::string means_left(const Occupancy& gpus, const JobSpec& spec) {
  const Demand each = demand_of(spec);
  if (!each.any()) return {};
  std::uint64_t free = 0;
  for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s) {
    if (allows(spec, gpus.topology(), ServerId{s})) free += gpus.free_on(ServerId{s}, each);
  }
  return "needs " + needs_of(spec) + " for each worker: its servers' CPUs and memory go with " +
         std::to_string(free) + " of the free GPUs here";
}

std::string means_there(const Topology& topology, const RemoteDigest& said, const JobSpec& spec) {
  const Demand each = demand_of(spec);
  if (!each.any()) return {};
  std::uint64_t gpus = 0;
  for (const ServerRoom& room : rooms_of(topology, said)) {
    if (allows(spec, topology, room.type))
      gpus += std::uint64_t{room.servers} * room.gpus_for(each);
  }
  return ", its CPUs and memory go with " + std::to_string(gpus) + " of those";
}

std::string lacks_means(const Topology& topology, const JobSpec& spec) {
  const Demand each = demand_of(spec);
  if (!each.any()) return {};
  const std::uint32_t worker = std::max(spec.gpus_per_worker, 1U);
  std::uint64_t whole = 0, gpus = 0;  // workers on one server each; GPUs, however they lie
  double cpus = 0, memory = 0;
  for (std::uint32_t i = 0; i < topology.server_count(); ++i) {
    const Server& server = topology.server(ServerId{i});
    if (server.gpus.size() == 0 || !allows(spec, topology, ServerId{i})) continue;
    cpus = std::max(cpus, server.cpus);
    memory = std::max(memory, server.memory_gib);
    const std::uint32_t room = std::min(server.gpus.size(), Occupancy::room_of(server, each));
    whole += room / worker;
    gpus += room;
  }
  // Of one worker alone the parts may lie on several servers, as its GPUs may.
  if (spec.workers > 1 ? whole >= spec.workers : gpus >= spec.gpus()) return {};
  std::string out = "needs " + needs_of(spec) + " with the " + counted(worker, "GPU") + " of ";
  out += spec.workers > 1 ? "each of " + counted(spec.workers, "worker") : "its worker";
  out += "; the largest server that it may use has " + short_number(cpus) + " CPUs and " +
         short_number(memory) + " GiB, and all such servers together hold ";
  return out + (spec.workers > 1 ? std::to_string(whole) + " such workers"
                                 : "that with " + counted(gpus, "GPU"));
}

}  // namespace starling
