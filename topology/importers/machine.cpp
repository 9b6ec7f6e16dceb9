// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/machine.h"

#include <algorithm>
#include <filesystem>

#include "base/counted.h"
#include "topology/builder.h"
#include "topology/gpu_catalogue.h"

namespace starling {

Result<Topology> topology_of(const Machine& machine, const std::string& file_name,
                             Diagnostics& diagnostics) {
  Server server;
  std::uint32_t gpus = 0;
  for (std::uint32_t socket = 0; socket < machine.sockets.size(); ++socket) {
    for (const std::uint32_t below : machine.sockets[socket]) {
      server.switches.push_back({socket, below});
      gpus += below;
    }
  }
  constexpr std::uint32_t gpus_max = 256;
  if (gpus == 0 || gpus > gpus_max) {
    diagnostics.add({1, 0},
                    counted(gpus, "GPU was", "GPUs were") + " found; a server has 1 to 256");
  }
  if (diagnostics.any()) return diagnostics.error();
  const auto or_else = [](double said, double assumed) { return said > 0 ? said : assumed; };
  server.cpus = or_else(machine.cpus, 12.0 * gpus);
  server.memory_gib = or_else(machine.memory_gib, 64.0 * gpus);
  server.nics = std::max(1U, machine.nics);
  server.nic_gbps = or_else(machine.nic_gbps, 100) * server.nics;
  server.server_gbps = or_else(machine.pcie_gbps, server.server_gbps);
  if (machine.nvlink_island > 0) {
    server.gpus_per_island = machine.nvlink_island;
    server.island_gbps = or_else(machine.nvlink_gbps, server.island_gbps);
  } else {
    islands_by_switch(server);
    server.island_gbps = server.server_gbps;
  }
  const std::string stem = std::filesystem::path(file_name).stem().string();
  TopologyBuilder builder(stem.empty() ? "machine" : stem);
  const std::string label = machine.gpu_type.empty() ? "V100" : machine.gpu_type;
  server.gpu_type =
      builder.gpu_type(gpu_type_in(label).value_or(GpuType{label, GpuType{}.memory_gib}));
  builder.begin_pod();
  builder.begin_rack();
  builder.add_server(std::move(server), gpus);
  return std::move(builder).build(NetworkPlan{});
}

int line_at(const std::string& text, std::ptrdiff_t offset) {
  const auto end = std::min<std::ptrdiff_t>(std::max<std::ptrdiff_t>(offset, 0),
                                            static_cast<std::ptrdiff_t>(text.size()));
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + end, '\n'));
}

}  // namespace starling
