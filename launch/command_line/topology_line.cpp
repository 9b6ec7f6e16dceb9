// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/topology_line.h"

#include "launch/system/amount.h"
#include "launch/system/text.h"

namespace starling {
std::map<std::string, std::uint32_t> gpus_by_type(const Topology& topology) {
  std::map<std::string, std::uint32_t> count;
  for (const Server& server : topology.servers()) {
    if (server.gpus.size() > 0)
      count[topology.gpu_types()[server.gpu_type.value].name] += server.gpus.size();
  }
  return count;
}

std::string topology_line(const Topology& topology) {
  std::map<Level, std::uint32_t> levels;
  for (const Subtree& subtree : topology.subtrees()) ++levels[subtree.level];
  std::string types;
  for (const auto& [type, gpus] : gpus_by_type(topology))
    types += (types.empty() ? "" : ", ") + with_commas(gpus) + " " + type;
  return topology.name() + ": " + amount(levels[Level::pod], "pod") + ", " +
         amount(levels[Level::rack], "rack") + ", " + amount(topology.server_count(), "server") +
         (topology.domains().empty()
              ? ""
              : ", " + amount(topology.domains().size(), "scale-up domain")) +
         ", " + amount(topology.gpu_count(), "GPU") + (types.empty() ? "" : " (" + types + ")") +
         ", " + amount(topology.network_links().size(), "network link");
}

}  // namespace starling
