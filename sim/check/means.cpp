// SPDX-License-Identifier: Apache-2.0
#include "sim/check/means.h"

#include <map>

namespace starling {

std::string overdrawn(const Topology& topology, std::span<const ProcessView> processes) {
  std::map<ServerId, Demand> needed;
  for (const ProcessView& process : processes) {
    if (!process.each.any()) continue;
    for (const GpuId gpu : process.gpus) {
      Demand& sum = needed[topology.server_of(gpu)];
      sum.cpus += process.each.cpus;
      sum.memory += process.each.memory;
    }
  }
  for (const auto& [id, sum] : needed) {
    const Server& server = topology.server(id);
    const auto text = [&](const char* what, double has, std::int64_t needs) {
      if (has <= 0 || static_cast<double>(needs) <= has * 1e6 + 0.5) return std::string();
      return "processes on server " + server.name + " need " +
             std::to_string(static_cast<double>(needs) / 1e6) + what + ", and it has " +
             std::to_string(has);
    };
    if (std::string wrong = text(" CPUs", server.cpus, sum.cpus); !wrong.empty()) return wrong;
    if (std::string wrong = text(" GiB", server.memory_gib, sum.memory); !wrong.empty())
      return wrong;
  }
  return {};
}

}  // namespace starling
