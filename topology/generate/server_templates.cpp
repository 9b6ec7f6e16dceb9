// SPDX-License-Identifier: Apache-2.0
#include "topology/generate/server_templates.h"

#include <vector>

#include "base/lower_case.h"
#include "topology/builder.h"

namespace starling {
namespace {

struct Machine {
  const char* name;
  const char* gpu_type;
  double cpus;
  double memory_gib;
  double nic_gbps;
  std::uint32_t nics;
  std::uint32_t island;  // 0: the PCIe switches are the islands
  double island_gbps;
  double server_gbps;
  std::vector<std::vector<std::uint32_t>> sockets;
};

ServerTemplate made_of(const Machine& m) {
  ServerTemplate made{m.name, m.gpu_type, 0, {}};
  Server& server = made.server;
  server.cpus = m.cpus;
  server.memory_gib = m.memory_gib;
  server.nic_gbps = m.nic_gbps;
  server.nics = m.nics;
  server.island_gbps = m.island_gbps;
  server.server_gbps = m.server_gbps;
  for (std::uint32_t socket = 0; socket < m.sockets.size(); ++socket) {
    for (const std::uint32_t gpus : m.sockets[socket]) {
      server.switches.push_back({socket, gpus});
      made.gpus += gpus;
    }
  }
  if (m.island == 0) {
    islands_by_switch(server);
  } else {
    server.gpus_per_island = m.island;
  }
  return made;
}

}  // namespace

std::span<const ServerTemplate> known_server_templates() {
  // One direction: an NVLink 2 or later carries 25 GB/s, so 6, 12 and 18 of them carry 1200, 2400
  // and 3600 Gbit/s. A DGX-1 has a cube mesh: within four GPUs each has 4 links, to the other four
  // it has 2. A GB200 has 18 NVLinks of 50 GB/s, a TPU v4 six links of 50 GB/s to its torus. PCIe
  // x16 carries 128, 256 and 512 Gbit/s in generations 3, 4 and 5.
  static const std::vector<ServerTemplate> templates = [] {
    const Machine machines[] = {
        {"dgx-1", "V100-32GB", 80, 512, 400, 4, 4, 800, 400, {{2, 2}, {2, 2}}},
        {"dgx-2", "V100-32GB", 96, 1536, 800, 8, 16, 1200, 128, {{2, 2, 2, 2}, {2, 2, 2, 2}}},
        {"dgx-a100", "A100-80GB", 256, 2048, 1600, 8, 8, 2400, 256, {{2, 2}, {2, 2}}},
        {"dgx-h100", "H100", 224, 2048, 3200, 8, 8, 3600, 512, {{1, 1, 1, 1}, {1, 1, 1, 1}}},
        {"4xt4", "T4", 48, 192, 50, 1, 0, 128, 128, {{2}, {2}}},
        {"8xa10", "A10", 128, 512, 100, 2, 0, 256, 256, {{4}, {4}}},
        {"gb200-nvl72", "GB200", 144, 960, 1600, 4, 4, 7200, 512, {{2}, {2}}},
        {"tpu-v4", "TPU-v4", 240, 400, 100, 1, 4, 2400, 128, {{2}, {2}}},
    };
    std::vector<ServerTemplate> all;
    for (const Machine& machine : machines) all.push_back(made_of(machine));
    return all;
  }();
  return templates;
}

std::optional<ServerTemplate> known_server_template(std::string_view name) {
  const std::string lower = lower_case(std::string(name));
  for (const ServerTemplate& each : known_server_templates()) {
    if (each.name == lower) return each;
  }
  return std::nullopt;
}

}  // namespace starling
