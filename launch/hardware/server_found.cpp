// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/server_found.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "topology/builder.h"
#include "topology/gpu_catalogue.h"

namespace starling {
namespace {

constexpr double kUsualNic = 100, kUsualPcie = 128;

GpuType type_of(const MachineFound& machine, Guesses& guesses) {
  std::map<std::string, std::uint32_t> models;
  for (const GpuFound& gpu : machine.gpus) ++models[gpu.model];
  const auto most =
      std::max_element(models.begin(), models.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string label = most->first.empty() ? "unknown GPU" : most->first;
  if (models.size() > 1)
    guesses.add("all GPUs are " + label + ": a server has one type, and there are others",
                machine.name);
  if (most->first.empty())
    guesses.add("gpu_type: the driver does not say what its GPUs are", machine.name);
  double memory = 0;
  for (const GpuFound& gpu : machine.gpus) {
    if (gpu.model == most->first) memory = std::max(memory, gpu.memory_gib);
  }
  GpuType known = gpu_type_in(label).value_or(GpuType{label, GpuType{}.memory_gib});
  if (memory <= 0) {
    guesses.add("memory_gib of " + known.name + " is what such GPUs usually have", machine.name);
    return known;
  }
  // A driver keeps some of the memory for itself; a sixth more or less is another card.
  const bool as_known = gpu_type_in(label).has_value() &&
                        std::abs(memory - known.memory_gib) < 0.15 * known.memory_gib;
  return as_known ? known : GpuType{label, std::round(memory)};
}

void set_network(const MachineFound& machine, Server& server, Guesses& guesses) {
  double fastest = 0;
  for (const NicFound& nic : machine.nics) fastest = std::max(fastest, nic.gbps);
  std::uint32_t ports = 0;
  bool slower = false;
  for (const NicFound& nic : machine.nics) {
    if (nic.gbps == fastest) ++ports;
    slower = slower || (nic.gbps > 0 && nic.gbps < fastest);
  }
  server.nics = std::max(1U, ports);
  if (fastest > 0) {
    server.nic_gbps = fastest * server.nics;
    if (slower) guesses.add("nics: the fastest alone; others are for management", machine.name);
    return;
  }
  server.nic_gbps = kUsualNic * server.nics;
  guesses.add("nic_gbps: 100 Gbit/s a port, as no port says its speed", machine.name);
}

/// GPUs by socket and PCIe switch, if those are in NVML's order.
void set_switches(const MachineFound& machine, Server& server, Guesses& guesses) {
  int socket = 0;
  std::set<std::string> closed;
  std::string open;
  std::vector<PcieSwitch> switches;
  for (const GpuFound& gpu : machine.gpus) {
    const bool back = !gpu.pcie_switch.empty() && closed.contains(gpu.pcie_switch);
    if (gpu.socket < socket || back) {
      guesses.add(gpu.socket < 0 ? "sockets: where its GPUs are plugged in cannot be seen"
                                 : "sockets are left out: its GPUs do not stand in their order",
                  machine.name);
      return;
    }
    const bool same = !gpu.pcie_switch.empty() && gpu.pcie_switch == open && gpu.socket == socket;
    if (!open.empty() && gpu.pcie_switch != open) closed.insert(open);
    open = gpu.pcie_switch;
    socket = gpu.socket;
    if (same && !switches.empty()) {
      ++switches.back().gpus;
    } else {
      switches.push_back({static_cast<std::uint32_t>(socket), 1});
    }
  }
  server.switches = std::move(switches);
}

/// How many consecutive GPUs NVLink joins; 0: it joins none, or not as a topology can say.
std::uint32_t nvlink_island(const MachineFound& machine, Guesses& guesses) {
  const auto& gpus = machine.gpus;
  std::vector<std::size_t> piece(gpus.size());
  std::iota(piece.begin(), piece.end(), std::size_t{0});
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::size_t from = piece[a], to = piece[b];
    std::replace(piece.begin(), piece.end(), from, to);
  };
  std::size_t first_switched = gpus.size();
  bool direct = true;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].switched) {
      if (first_switched == gpus.size()) first_switched = i;
      join(i, first_switched);
    }
    for (std::size_t k = 0; k < gpus.size(); ++k) {
      if (std::binary_search(gpus[i].peers.begin(), gpus[i].peers.end(), gpus[k].pci)) join(i, k);
    }
  }
  std::size_t island = 0;
  while (island < piece.size() && piece[island] == piece[0]) ++island;
  std::set<std::size_t> seen;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const bool alike =
        i / island * island + island <= piece.size() && piece[i] == piece[i / island * island];
    const bool apart = i % island != 0 || seen.insert(piece[i]).second;
    if (alike && apart) continue;
    guesses.add(
        "island: NVLink joins groups of GPUs that are unequal or not in order; they are "
        "left out",
        machine.name);
    return 0;
  }
  for (const GpuFound& gpu : gpus)
    direct = direct && (gpu.switched || gpu.peers.size() + 1 >= island);
  if (island > 1 && !direct)
    guesses.add("island: some of its GPUs reach one another over a third one", machine.name);
  return island > 1 ? static_cast<std::uint32_t>(island) : 0;
}

void set_islands(const MachineFound& machine, ServerFound& found, Guesses& guesses) {
  Server& server = found.server;
  double pcie = 0;
  for (const GpuFound& gpu : machine.gpus) {
    if (gpu.pcie_gbps > 0) pcie = pcie > 0 ? std::min(pcie, gpu.pcie_gbps) : gpu.pcie_gbps;
  }
  server.server_gbps = pcie > 0 ? std::max(1.0, std::floor(pcie)) : kUsualPcie;
  if (pcie <= 0) guesses.add("pcie_gbps: 128 Gbit/s, as no PCIe link says its speed", machine.name);
  if (const std::uint32_t island = nvlink_island(machine, guesses); island > 0) {
    double slowest = 0;
    for (const GpuFound& gpu : machine.gpus) {
      if (gpu.nvlink_gbps > 0)
        slowest = slowest > 0 ? std::min(slowest, gpu.nvlink_gbps) : gpu.nvlink_gbps;
    }
    server.gpus_per_island = island;
    if (slowest <= 0)
      guesses.add("nvlink_gbps: 400 Gbit/s, as no NVLink says its speed", machine.name);
    server.island_gbps = slowest > 0 ? std::max(1.0, std::round(slowest)) : server.island_gbps;
    found.nvlink_gbps = server.island_gbps;
    return;
  }
  server.gpus_per_island = 1;
  if (!server.switches.empty()) islands_by_switch(server);
  server.island_gbps = server.server_gbps;
}

}  // namespace

void Guesses::add(const std::string& sentence, const std::string& server) {
  auto& servers = servers_[sentence];
  if (servers.empty()) order_.push_back(sentence);
  servers.push_back(server);
}

std::vector<std::string> Guesses::lines() const {
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> all;
  for (const std::string& sentence : order_) {
    const auto& servers = servers_.at(sentence);
    std::string named;
    for (std::size_t i = 0; i < std::min(servers.size(), kNamed); ++i)
      named += (i == 0 ? "" : ", ") + servers[i];
    if (servers.size() > kNamed)
      named += " and " + std::to_string(servers.size() - kNamed) + " more";
    all.push_back("guessed: " + sentence + " (" + named + ")");
  }
  return all;
}

ServerFound server_found(const MachineFound& machine, Guesses& guesses) {
  ServerFound found;
  Server& server = found.server;
  server.name = machine.name;
  server.cpus = machine.cpus;
  server.memory_gib = std::floor(machine.memory_gib);
  set_network(machine, server, guesses);
  if (machine.gpus.empty()) return found;
  found.type = type_of(machine, guesses);
  set_switches(machine, server, guesses);
  set_islands(machine, found, guesses);
  for (const GpuFound& gpu : machine.gpus) {
    if (!gpu.mig_on) continue;
    guesses.add("GPUs with MIG on count as whole GPUs, and jobs are told whole ones", machine.name);
    break;
  }
  return found;
}

}  // namespace starling
