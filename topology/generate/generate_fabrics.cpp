// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/limits.h"
#include "topology/generate/generate_parts.h"

namespace starling {
namespace {

constexpr std::uint64_t kLinksMax = 8U << 20U;

Error invalid(std::string message) { return {Errc::invalid, std::move(message)}; }

std::uint64_t rounded_up(std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit; }

void add_server_nodes(Topology::Parts& parts) {
  for (std::uint32_t s = 0; s < parts.servers.size(); ++s) {
    parts.nodes.push_back({parts.servers[s].name, true, ServerId(s)});
  }
}

}  // namespace

Result<Topology> generate_vl2(const GeneratorOptions& options) {
  GeneratorOptions o = options;
  if (auto error = settle(o)) return *error;
  constexpr std::uint32_t ports_max = 512;
  std::uint64_t aggregation = o.vl2_aggregation_ports;
  std::uint64_t intermediate = o.vl2_intermediate_ports;
  if (aggregation % 2 != 0 || intermediate % 2 != 0 || aggregation > ports_max ||
      intermediate > ports_max) {
    return invalid("ports of VL2's switches must be even and at most 512");
  }
  const std::uint64_t racks = rounded_up(servers_of(o), o.servers_per_rack);
  if (aggregation == 0) {
    aggregation = 2;
    while (aggregation * (intermediate > 0 ? intermediate : aggregation) / 4 < racks &&
           aggregation < ports_max) {
      aggregation += 2;
    }
  }
  if (intermediate == 0) intermediate = aggregation;
  if (aggregation * intermediate / 4 < racks) {
    return invalid("VL2 with D_A = " + std::to_string(aggregation) +
                   " and D_I = " + std::to_string(intermediate) + " holds " +
                   std::to_string(aggregation * intermediate / 4) + " racks, not " +
                   std::to_string(racks) + "; use larger racks or more ports");
  }
  NetworkPlan plan;
  plan.pod_switches = 2;
  plan.core_switches = static_cast<std::uint32_t>(aggregation / 2);
  plan.pod_gbps = plan.core_gbps =
      o.uplink_gbps > 0 ? o.uplink_gbps : o.servers_per_rack * o.nic_gbps / 2;
  plan.rack_latency_us = plan.pod_latency_us = plan.core_latency_us = o.link_latency_us;
  return lay_out(o, "vl2", {o.servers_per_rack, aggregation / 2}).build(plan);
}

Result<Topology> generate_bcube(const GeneratorOptions& options) {
  GeneratorOptions o = options;
  if (auto error = settle(o)) return *error;
  const std::uint64_t n = o.bcube_ports;
  constexpr std::uint32_t levels_max = 8;
  if (n < 2 || n > 1024 || o.bcube_levels > levels_max) {
    return invalid("BCube's switches must have 2 to 1024 ports, its servers at most 8 levels");
  }
  const std::uint64_t servers = servers_of(o);
  std::uint32_t levels = std::max(1U, o.bcube_levels);
  std::uint64_t holds = n;
  for (std::uint32_t l = 1; l < levels_max; ++l) {
    if (o.bcube_levels > 0 ? l >= levels : holds >= servers) break;
    holds *= n;
    levels = std::max(levels, l + 1);
    if (holds >= Limits{}.gpus_total) break;
  }
  if (holds < servers) {
    return invalid("a BCube of " + std::to_string(levels) + " levels of " + std::to_string(n) +
                   " ports holds " + std::to_string(holds) + " servers, not " +
                   std::to_string(servers));
  }
  TopologyBuilder builder = lay_out(o, "bcube", {n, n});
  Topology::Parts& parts = builder.parts();
  add_server_nodes(parts);
  const double gbps = o.nic_gbps / levels;
  for (std::uint64_t l = 0, stride = 1; l < levels; ++l, stride *= n) {
    // Servers that differ in digit l alone share a switch; which is numbered by the other digits.
    const auto first = static_cast<std::uint32_t>(parts.nodes.size());
    const auto number = [&](std::uint64_t s) { return s / (stride * n) * stride + s % stride; };
    std::uint64_t switches = 0;
    for (std::uint64_t s = 0; s < servers; ++s) switches = std::max(switches, number(s) + 1);
    for (std::uint64_t i = 0; i < switches; ++i) {
      parts.nodes.push_back({"level" + std::to_string(l) + "-sw" + std::to_string(i), false, {}});
    }
    for (std::uint64_t s = 0; s < servers; ++s) {
      parts.links.push_back({static_cast<std::uint32_t>(s),
                             first + static_cast<std::uint32_t>(number(s)), gbps,
                             o.link_latency_us});
    }
  }
  return std::move(builder).build();
}

Result<Topology> generate_dragonfly(const GeneratorOptions& options) {
  GeneratorOptions o = options;
  if (auto error = settle(o)) return *error;
  const std::uint64_t servers = servers_of(o);
  constexpr std::uint32_t most = 256;
  if (std::max({o.dragonfly_hosts, o.dragonfly_routers, o.dragonfly_global}) > most) {
    return invalid("a dragonfly's p, a and h must be at most 256");
  }
  std::uint64_t h = o.dragonfly_global > 0 ? o.dragonfly_global : 1;
  const auto p = [&] { return o.dragonfly_hosts > 0 ? o.dragonfly_hosts : h; };
  const auto a = [&] { return o.dragonfly_routers > 0 ? o.dragonfly_routers : 2 * h; };
  while (o.dragonfly_global == 0 && p() * a() * (a() * h + 1) < servers && h < most) ++h;
  const std::uint64_t groups = rounded_up(servers, p() * a());
  if (groups > a() * h + 1) {
    return invalid("a dragonfly with p = " + std::to_string(p()) + ", a = " + std::to_string(a()) +
                   ", h = " + std::to_string(h) + " holds " +
                   std::to_string(p() * a() * (a() * h + 1)) + " servers, not " +
                   std::to_string(servers));
  }
  if (groups * a() * (a() + h) > kLinksMax) {
    return invalid("a dragonfly of that many routers has too many links; use smaller groups");
  }
  TopologyBuilder builder = lay_out(o, "dragonfly", {p(), a()});
  Topology::Parts& parts = builder.parts();
  add_server_nodes(parts);
  const auto first = static_cast<std::uint32_t>(servers);
  const auto router = [&](std::uint64_t group, std::uint64_t i) {
    return first + static_cast<std::uint32_t>(group * a() + i);
  };
  for (std::uint64_t g = 0; g < groups; ++g) {
    for (std::uint64_t i = 0; i < a(); ++i) {
      parts.nodes.push_back({"p" + std::to_string(g) + "-router" + std::to_string(i), false, {}});
    }
  }
  for (std::uint32_t s = 0; s < servers; ++s) {
    parts.links.push_back(
        {s, first + static_cast<std::uint32_t>(s / p()), o.nic_gbps, o.link_latency_us});
  }
  const double gbps = o.uplink_gbps > 0 ? o.uplink_gbps : o.nic_gbps;
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    parts.links.push_back({from, to, gbps, o.link_latency_us});
  };
  for (std::uint64_t g = 0; g < groups; ++g) {
    for (std::uint64_t i = 0; i < a(); ++i) {
      for (std::uint64_t j = i + 1; j < a(); ++j) link(router(g, i), router(g, j));
    }
    // Ports of a group are numbered over its routers. Of each round of groups - 1 ports, port d - 1
    // leads to the d-th group after this one, which uses its port groups - d - 1.
    const std::uint64_t rounds = groups > 1 ? a() * h / (groups - 1) : 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::uint64_t to = g + 1; to < groups; ++to) {
        const std::uint64_t base = round * (groups - 1);
        const std::uint64_t out = base + (to - g) - 1;
        const std::uint64_t in = base + (groups - (to - g)) - 1;
        link(router(g, out / h), router(to, in / h));
      }
    }
  }
  return std::move(builder).build();
}

Result<Topology> generate_rail_optimised(const GeneratorOptions& options) {
  GeneratorOptions o = options;
  if (auto error = settle(o)) return *error;
  const std::uint32_t rails = o.rails > 0 ? o.rails : o.gpus_per_server;
  constexpr std::uint32_t rails_max = 64;
  if (rails > rails_max || o.racks_per_unit == 0) {
    return invalid("a server has 1 to 64 rails, a unit at least 1 rack");
  }
  const std::uint64_t unit = std::uint64_t{o.servers_per_rack} * o.racks_per_unit;
  const std::uint64_t units = rounded_up(servers_of(o), unit);
  NetworkPlan plan;
  plan.rack_switches = 0;
  plan.rail_switches = rails;
  plan.core_switches = units > 1 ? o.spines : 0;
  plan.core_gbps =
      o.uplink_gbps > 0 ? o.uplink_gbps : static_cast<double>(unit) * o.nic_gbps / rails / o.spines;
  plan.rail_latency_us = plan.core_latency_us = o.link_latency_us;
  if (units * rails * o.spines > kLinksMax) {
    return invalid("that many spines are too many links; use fewer spines or larger units");
  }
  TopologyBuilder builder = lay_out(o, "rail-optimised", {o.servers_per_rack, o.racks_per_unit});
  for (Server& server : builder.parts().servers) server.nics = rails;
  return std::move(builder).build(plan);
}

}  // namespace starling
