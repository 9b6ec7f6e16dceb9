// SPDX-License-Identifier: Apache-2.0
#include "launch/client/placeable.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/counted.h"
#include "base/lower_case.h"
#include "launch/system/text.h"

namespace starling {

namespace {

/// How the data centre spells it; null: it has no such type.
const std::string* spelling(const Topology& topology, const std::string& asked) {
  for (const GpuType& type : topology.gpu_types()) {
    if (lower_case(type.name) == lower_case(asked)) return &type.name;
  }
  return nullptr;
}

std::string all_types(const Topology& topology) {
  std::vector<std::string> types;
  for (const GpuType& type : topology.gpu_types()) types.push_back(type.name);
  return joined(types, ", ");
}

}  // namespace

Status spell_gpu_types(const Topology& topology, JobSpec& spec) {
  bool any = spec.gpu_types.empty();
  for (std::string& asked : spec.gpu_types) {
    const std::string* const same = spelling(topology, asked);
    if (same == nullptr) continue;
    any = true;
    asked = *same;
  }
  if (any) return done();
  return {Errc::invalid, "it asks for GPUs of type " + joined(spec.gpu_types, " or ") +
                             ", the data centre has " + all_types(topology)};
}

std::string unknown_gpu_types(const Topology& topology, const JobSpec& spec) {
  std::vector<std::string> unknown;
  for (const std::string& asked : spec.gpu_types) {
    if (spelling(topology, asked) == nullptr) unknown.push_back(asked);
  }
  if (unknown.empty()) return {};
  return "it asks for GPUs of type " + joined(unknown, " or ") +
         ", too, of which the data centre has none; it has " + all_types(topology);
}

Status can_ever_fit(const Topology& topology, const JobSpec& spec) {
  std::uint32_t gpus = 0, workers = 0, largest = 0;
  for (const Server& server : topology.servers()) {
    const std::string& type =
        server.gpus.size() == 0 ? std::string() : topology.gpu_types()[server.gpu_type.value].name;
    const bool allowed =
        spec.gpu_types.empty() ||
        std::find(spec.gpu_types.begin(), spec.gpu_types.end(), type) != spec.gpu_types.end();
    if (!allowed) continue;
    gpus += server.gpus.size();
    workers += server.gpus.size() / std::max(1U, spec.gpus_per_worker);
    largest = std::max(largest, server.gpus.size());
  }
  const std::string of = spec.gpu_types.empty() ? "" : " of type " + joined(spec.gpu_types, " or ");
  if (gpus < spec.gpus()) {
    return {Errc::invalid, "it asks for " + counted(spec.gpus(), "GPU") + of +
                               ", the data centre has " + std::to_string(gpus)};
  }
  if (workers < spec.workers) {
    return {Errc::invalid, "it asks for " + counted(spec.workers, "worker") + " of " +
                               counted(spec.gpus_per_worker, "GPU") + of + ", the servers hold " +
                               std::to_string(workers) + " (the largest has " +
                               counted(largest, "GPU") + ")"};
  }
  return done();
}

}  // namespace starling
