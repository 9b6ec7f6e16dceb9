// SPDX-License-Identifier: Apache-2.0
#include "topology/describe.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/counted.h"
#include "base/short_number.h"
#include "topology/cuts.h"

namespace starling {
namespace {

std::string layer_name(std::uint32_t layer) {
  if (layer == NodeSpan::kUnreached) return "unreached switch";
  if (layer == 0) return "server";
  return "switch of layer " + std::to_string(layer);
}

std::string server_lines(const Topology& topology) {
  using Kind =
      std::tuple<std::uint32_t, std::string, double, double, double, std::uint32_t, double, double>;
  std::map<Kind, std::size_t> kinds;
  for (const Server& s : topology.servers()) {
    const std::uint32_t gpus = s.gpus.size();
    const std::string type = gpus == 0 ? "" : topology.gpu_types()[s.gpu_type.value].name;
    ++kinds[{gpus, type, s.cpus, s.memory_gib, s.nic_gbps, gpus == 0 ? 0 : s.gpus_per_island,
             s.island_gbps, s.server_gbps}];
  }
  std::string out;
  for (const auto& [kind, n] : kinds) {
    const auto& [gpus, type, cpus, memory, nic, island, nvlink, pcie] = kind;
    out += "  " + counted(n, "server") + ": ";
    out += gpus == 0 ? "no GPUs" : std::to_string(gpus) + " x " + type;
    out += cpus > 0 ? ", " + short_number(cpus) + " CPUs" : ", any number of CPUs (none is said)";
    out += memory > 0 ? ", " + short_number(memory) + " GiB" : ", any memory (none is said)";
    out += ", NIC " + short_number(nic) + " Gbit/s";
    if (gpus > 0) {
      out += ", islands of " + std::to_string(island) + " at " + short_number(nvlink) +
             " Gbit/s, between them " + short_number(pcie);
    }
    out += "\n";
  }
  return out;
}

// Where GPUs of one type differ.
std::string speed_lines(const Topology& topology) {
  std::size_t servers = 0, gpus = 0;
  double slowest = 1;
  for (const Server& server : topology.servers()) {
    servers += server.gpu_speeds.empty() ? 0 : 1;
    for (const double speed : server.gpu_speeds) {
      gpus += speed < 1 ? 1 : 0;
      slowest = std::min(slowest, speed);
    }
  }
  if (servers == 0) return {};
  return "  " + counted(gpus, "GPU is", "GPUs are") + " slower than the fastest of the type, on " +
         counted(servers, "server") + ", the slowest at " + short_number(slowest) + " of it\n";
}

std::string domain_lines(const Topology& topology) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, double>, std::size_t> kinds;
  for (const ScaleUpDomain& domain : topology.domains()) {
    const std::uint32_t gpus = topology.servers()[domain.servers.last - 1].gpus.last -
                               topology.servers()[domain.servers.first].gpus.first;
    ++kinds[{domain.servers.size(), gpus, domain.gbps}];
  }
  std::string out;
  for (const auto& [kind, n] : kinds) {
    const auto& [servers, gpus, gbps] = kind;
    out += "  " + counted(n, "scale-up domain") + ": " + counted(gpus, "GPU") + " of " +
           counted(servers, "server") + " at " + short_number(gbps) + " Gbit/s each\n";
  }
  return out;
}

std::string link_lines(const Topology& topology) {
  const std::vector<NodeSpan> spans = spans_of(topology);
  std::map<std::tuple<std::uint32_t, std::uint32_t, double, double>, std::size_t> kinds;
  for (const NetworkLink& link : topology.network_links()) {
    const auto [low, high] = std::minmax(spans[link.a].layer, spans[link.b].layer);
    ++kinds[{low, high, link.gbps, link.latency_us}];
  }
  std::string out;
  for (const auto& [kind, n] : kinds) {
    const auto& [low, high, gbps, latency] = kind;
    out += "  " + counted(n, "link") + ": " + layer_name(low) + " to " + layer_name(high) + ", " +
           short_number(gbps) + " Gbit/s, " + short_number(latency) + " us\n";
  }
  return out;
}

}  // namespace

std::string gpu_name(const Topology& topology, GpuId gpu) {
  const Server& server = topology.server(topology.server_of(gpu));
  return server.name + "/gpu" + std::to_string(gpu.value - server.gpus.first);
}

double bisection_gbps(const Topology& topology) {
  return crossing_gbps(topology)[topology.server_count() / 2];
}

std::string describe(const Topology& topology) {
  std::size_t pods = 0;
  std::size_t racks = 0;
  for (const Subtree& tree : topology.subtrees()) {
    pods += tree.level == Level::pod ? 1 : 0;
    racks += tree.level == Level::rack ? 1 : 0;
  }
  std::string out = topology.name() + ": " + counted(topology.gpu_count(), "GPU") + " in " +
                    counted(topology.server_count(), "server") + ", " + counted(racks, "rack") +
                    ", " + counted(pods, "pod") + "\nGPU types\n";
  std::vector<std::size_t> per_type(topology.gpu_types().size());
  for (const Server& server : topology.servers()) {
    if (server.gpus.size() > 0) per_type[server.gpu_type.value] += server.gpus.size();
  }
  for (std::size_t i = 0; i < per_type.size(); ++i) {
    const GpuType& type = topology.gpu_types()[i];
    out += "  " + type.name + ": " + std::to_string(per_type[i]) + ", " +
           short_number(type.memory_gib) + " GiB each\n";
  }
  out += "servers\n" + server_lines(topology) + speed_lines(topology) + domain_lines(topology);
  if (topology.network_nodes().empty()) return out + "no network\n";
  const std::size_t switches = topology.network_nodes().size() - topology.server_count();
  out += "network: " + counted(switches, "switch", "switches");
  return out + "\n" + link_lines(topology) +
         "bisection: " + short_number(bisection_gbps(topology)) + " Gbit/s\n";
}

}  // namespace starling
