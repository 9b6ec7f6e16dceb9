// SPDX-License-Identifier: Apache-2.0
#include "topology/generate/generate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/limits.h"
#include "topology/generate/generate_parts.h"
#include "topology/generate/server_templates.h"
#include "topology/gpu_catalogue.h"
#include "topology/reading/diagnostics.h"

namespace starling {
namespace {

Error invalid(std::string message) { return {Errc::invalid, std::move(message)}; }

std::vector<ServerGroup> groups_of(const GeneratorOptions& o) {
  return o.groups.empty() ? std::vector<ServerGroup>{{o.servers, o.gpu_type}} : o.groups;
}

std::uint64_t server_total(const std::vector<ServerGroup>& groups) {
  std::uint64_t n = 0;
  for (const ServerGroup& group : groups) n += group.servers;
  return n;
}

std::optional<Error> use_template(GeneratorOptions& o) {
  if (o.server_template.empty()) return std::nullopt;
  const auto known = known_server_template(o.server_template);
  if (!known) {
    std::vector<std::string> names;
    for (const ServerTemplate& each : known_server_templates()) names.push_back(each.name);
    return invalid("unknown server template '" + o.server_template + "'" +
                   suggestion(o.server_template, names));
  }
  o.gpu_type = known->gpu_type;
  o.gpus_per_server = known->gpus;
  o.gpus_per_island = known->server.gpus_per_island;
  o.cpus = known->server.cpus;
  o.memory_gib = known->server.memory_gib;
  o.nic_gbps = known->server.nic_gbps;
  o.nvlink_gbps = known->server.island_gbps;
  o.pcie_gbps = known->server.server_gbps;
  return std::nullopt;
}

std::optional<Error> refuse(const GeneratorOptions& o) {
  const Limits limits;
  const std::vector<ServerGroup> groups = groups_of(o);
  for (const ServerGroup& group : groups) {
    if (group.servers == 0) return invalid("no servers: their number must be at least 1");
    if (!known_gpu_type(group.gpu_type)) {
      return invalid("unknown GPU type '" + group.gpu_type +
                     "'; V100, P100, K80, T4, A100, H100 "
                     "and others are known");
    }
  }
  if (o.gpus_per_server == 0 || o.gpus_per_island == 0) {
    return invalid("GPUs per server and per island must be at least 1");
  }
  if (o.servers_per_rack == 0 || o.spines == 0) {
    return invalid("servers per rack and spines must be at least 1");
  }
  if (o.gpus_per_server > limits.gpus_total ||
      server_total(groups) * o.gpus_per_server > limits.gpus_total) {
    return invalid(std::to_string(server_total(groups)) + " servers of " +
                   std::to_string(o.gpus_per_server) + " GPUs are more than the limit of " +
                   std::to_string(limits.gpus_total) + " GPUs");
  }
  for (const double speed : {o.nic_gbps, o.nvlink_gbps, o.pcie_gbps}) {
    if (!std::isfinite(speed) || speed <= 0) return invalid("link speeds must be above 0");
  }
  for (const double amount : {o.cpus, o.memory_gib}) {
    if (!std::isfinite(amount) || amount < 0)
      return invalid("CPUs and memory must be at least 0 (0: any amount)");
  }
  if (!std::isfinite(o.uplink_gbps) || o.uplink_gbps < 0 || !std::isfinite(o.link_latency_us) ||
      o.link_latency_us < 0 || o.link_latency_us > 1e6) {
    return invalid("uplink speed must be at least 0, link latency from 0 to 1000000 us");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> settle(GeneratorOptions& options) {
  if (auto error = use_template(options)) return error;
  return refuse(options);
}

std::uint64_t servers_of(const GeneratorOptions& options) {
  return server_total(groups_of(options));
}

TopologyBuilder lay_out(const GeneratorOptions& o, const std::string& kind, GeneratedShape shape) {
  TopologyBuilder builder(o.name.empty() ? kind + "-" + std::to_string(servers_of(o)) + "x" +
                                               std::to_string(o.gpus_per_server)
                                         : o.name);
  std::uint64_t at = 0;
  for (const ServerGroup& group : groups_of(o)) {
    Server server;
    server.gpu_type = builder.gpu_type(*known_gpu_type(group.gpu_type));
    server.gpus_per_island = std::min(o.gpus_per_island, o.gpus_per_server);
    server.cpus = o.cpus;
    server.memory_gib = o.memory_gib;
    server.nic_gbps = o.nic_gbps;
    server.island_gbps = o.nvlink_gbps;
    server.server_gbps = o.pcie_gbps;
    if (const auto known = known_server_template(o.server_template)) {
      server.nics = known->server.nics;
      server.switches = known->server.switches;
    }
    for (std::uint32_t i = 0; i < group.servers; ++i, ++at) {
      if (at % (shape.servers_per_rack * shape.racks_per_pod) == 0) builder.begin_pod();
      if (at % shape.servers_per_rack == 0) builder.begin_rack();
      builder.add_server(server, o.gpus_per_server);
    }
  }
  return builder;
}

Result<std::vector<ServerGroup>> parse_server_groups(std::string_view text,
                                                     const std::string& default_type) {
  std::vector<ServerGroup> groups;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view piece = rest.substr(0, comma);
    const std::size_t colon = piece.find(':');
    const std::string_view digits = piece.substr(0, colon);
    ServerGroup group;
    group.gpu_type =
        colon == std::string_view::npos ? default_type : std::string(piece.substr(colon + 1));
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, group.servers);
    if (digits.empty() || read.ec != std::errc{} || read.ptr != end || group.servers == 0 ||
        group.gpu_type.empty()) {
      return invalid("servers: cannot read '" + std::string(piece) +
                     "'; write a number above 0 (64) or numbers by GPU type (8:V100,16:P100)");
    }
    groups.push_back(std::move(group));
    if (comma == std::string_view::npos) return groups;
    rest.remove_prefix(comma + 1);
  }
}

Result<Topology> generate_flat(const GeneratorOptions& options) {
  GeneratorOptions o = options;
  if (auto error = settle(o)) return *error;
  NetworkPlan plan;
  plan.rack_latency_us = o.link_latency_us;
  return lay_out(o, "flat", {servers_of(o), 1}).build(plan);
}

Result<NetworkPlan> leaf_spine_network(const GeneratorOptions& o) {
  const std::uint64_t racks = (servers_of(o) + o.servers_per_rack - 1) / o.servers_per_rack;
  if (racks * o.spines > Limits{}.gpus_total) {
    return invalid(std::to_string(o.spines) + " spines for " + std::to_string(racks) +
                   " racks are too many links; use fewer spines or larger racks");
  }
  NetworkPlan plan;
  plan.core_switches = o.spines;
  plan.core_gbps = o.uplink_gbps > 0 ? o.uplink_gbps : o.servers_per_rack * o.nic_gbps / o.spines;
  plan.rack_latency_us = plan.core_latency_us = o.link_latency_us;
  return plan;
}

Result<Topology> generate_leaf_spine(const GeneratorOptions& options) {
  GeneratorOptions o = options;
  if (auto error = settle(o)) return *error;
  const auto network = leaf_spine_network(o);
  if (!network) return network.error();
  const std::uint64_t racks = (servers_of(o) + o.servers_per_rack - 1) / o.servers_per_rack;
  return lay_out(o, "leaf-spine", {o.servers_per_rack, racks}).build(network.value());
}

Result<Topology> generate_fat_tree(const GeneratorOptions& options) {
  GeneratorOptions o = options;
  constexpr std::uint32_t k_max = 256;
  if (o.fat_tree_k % 2 != 0 || o.fat_tree_k > k_max) {
    return invalid("k of a fat-tree must be even and at most 256, not " +
                   std::to_string(o.fat_tree_k));
  }
  if (o.fat_tree_k > 0 && o.servers == 0 && o.groups.empty()) {
    o.servers = o.fat_tree_k * o.fat_tree_k * o.fat_tree_k / 4;
  }
  if (auto error = settle(o)) return *error;
  const std::uint64_t servers = servers_of(o);
  std::uint64_t k = o.fat_tree_k > 0 ? o.fat_tree_k : 2;
  while (o.fat_tree_k == 0 && k * k * k / 4 < servers) k += 2;
  if (k * k * k / 4 < servers || k > k_max) {
    return invalid("a fat-tree with k = " + std::to_string(k) + " holds " +
                   std::to_string(k * k * k / 4) + " servers, not " + std::to_string(servers));
  }
  const auto half = static_cast<std::uint32_t>(k / 2);
  NetworkPlan plan;
  plan.pod_switches = half;
  plan.core_switches = half * half;
  plan.striped = true;
  plan.pod_gbps = plan.core_gbps = o.uplink_gbps > 0 ? o.uplink_gbps : o.nic_gbps;
  plan.rack_latency_us = plan.pod_latency_us = plan.core_latency_us = o.link_latency_us;
  return lay_out(o, "fat-tree-k" + std::to_string(k), {half, half}).build(plan);
}

Result<Topology> generate(std::string_view kind, const GeneratorOptions& options) {
  if (kind == "flat") return generate_flat(options);
  if (kind == "leaf-spine") return generate_leaf_spine(options);
  if (kind == "fat-tree") return generate_fat_tree(options);
  if (kind == "vl2") return generate_vl2(options);
  if (kind == "bcube") return generate_bcube(options);
  if (kind == "dragonfly") return generate_dragonfly(options);
  if (kind == "rail-optimised") return generate_rail_optimised(options);
  if (kind == "nvl72") return generate_nvl72(options);
  if (kind == "torus-pods") return generate_torus_pods(options);
  return Error{Errc::not_found, "no generator '" + std::string(kind) +
                                    "'; there are flat, leaf-spine, fat-tree, vl2, bcube, "
                                    "dragonfly, rail-optimised, nvl72 and torus-pods"};
}

}  // namespace starling
