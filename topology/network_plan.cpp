// SPDX-License-Identifier: Apache-2.0
#include "topology/network_plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"

namespace starling {
namespace {

class Wiring {
 public:
  Wiring(const NetworkPlan& plan, Topology::Parts& parts) : plan_(plan), parts_(parts) {}

  void run() {
    parts_.nodes.clear();
    parts_.links.clear();
    if (plan_.rack_switches == 0 && plan_.rail_switches == 0) return;
    STARLING_CHECK(plan_.rail_switches == 0 ||
                   (plan_.rack_switches == 0 && plan_.pod_switches == 0));
    for (std::uint32_t s = 0; s < parts_.servers.size(); ++s) {
      parts_.nodes.push_back({parts_.servers[s].name, true, ServerId(s)});
    }
    first_rack_switch_ = node_count();
    add_switches(Level::rack, plan_.rack_switches, "-sw");
    first_pod_switch_ = node_count();
    add_switches(Level::pod, plan_.pod_switches, "-sw");
    add_switches(Level::pod, plan_.rail_switches, "-rail");
    first_core_switch_ = node_count();
    for (std::uint32_t i = 0; i < plan_.core_switches; ++i) {
      parts_.nodes.push_back({"core" + std::to_string(i), false, {}});
    }
    link_servers();
    link_rails();
    link_pods();
    link_core();
  }

 private:
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(parts_.nodes.size());
  }

  void add_switches(Level level, std::uint32_t each, const char* suffix) {
    for (const Subtree& tree : parts_.subtrees) {
      if (tree.level != level) continue;
      for (std::uint32_t i = 0; i < each; ++i) {
        parts_.nodes.push_back({tree.name + suffix + std::to_string(i), false, {}});
      }
    }
  }

  void link_servers() {
    if (plan_.rack_switches == 0) return;
    std::uint32_t rack = 0;
    for (const Subtree& tree : parts_.subtrees) {
      if (tree.level != Level::rack) continue;
      for (std::uint32_t s = tree.servers.first; s < tree.servers.last; ++s) {
        const double gbps = parts_.servers[s].nic_gbps / plan_.rack_switches;
        for (std::uint32_t i = 0; i < plan_.rack_switches; ++i) {
          const std::uint32_t to = first_rack_switch_ + rack * plan_.rack_switches + i;
          parts_.links.push_back({s, to, gbps, plan_.rack_latency_us});
        }
      }
      ++rack;
    }
  }

  void link_rails() {
    if (plan_.rail_switches == 0) return;
    std::uint32_t first = first_pod_switch_;
    for (const Subtree& tree : parts_.subtrees) {
      if (tree.level != Level::pod) continue;
      for (std::uint32_t s = tree.servers.first; s < tree.servers.last; ++s) {
        const double gbps = parts_.servers[s].nic_gbps / plan_.rail_switches;
        for (std::uint32_t i = 0; i < plan_.rail_switches; ++i) {
          parts_.links.push_back({s, first + i, gbps, plan_.rail_latency_us});
        }
      }
      first += plan_.rail_switches;
    }
  }

  void link_pods() {
    if (plan_.pod_switches == 0) return;
    std::uint32_t rack_switch = first_rack_switch_;
    std::uint32_t pods_seen = 0;
    for (const Subtree& tree : parts_.subtrees) {
      if (tree.level == Level::pod) ++pods_seen;
      if (tree.level != Level::rack) continue;
      const std::uint32_t pod_switch = first_pod_switch_ + (pods_seen - 1) * plan_.pod_switches;
      for (std::uint32_t i = 0; i < plan_.rack_switches; ++i, ++rack_switch) {
        for (std::uint32_t j = 0; j < plan_.pod_switches; ++j) {
          parts_.links.push_back(
              {rack_switch, pod_switch + j, plan_.pod_gbps, plan_.pod_latency_us});
        }
      }
    }
  }

  void link_core() {
    if (plan_.core_switches == 0) return;
    const std::uint32_t in_pod = std::max(plan_.pod_switches, plan_.rail_switches);
    const bool pods = in_pod > 0;
    const std::uint32_t first = pods ? first_pod_switch_ : first_rack_switch_;
    const std::uint32_t last = pods ? first_core_switch_ : first_pod_switch_;
    const std::uint32_t group = pods ? in_pod : plan_.rack_switches;
    const std::uint32_t stripe = plan_.striped ? plan_.core_switches / group : plan_.core_switches;
    STARLING_CHECK(!plan_.striped || stripe * group == plan_.core_switches);
    for (std::uint32_t from = first; from < last; ++from) {
      const std::uint32_t core = plan_.striped ? (from - first) % group * stripe : 0;
      for (std::uint32_t i = 0; i < stripe; ++i) {
        parts_.links.push_back(
            {from, first_core_switch_ + core + i, plan_.core_gbps, plan_.core_latency_us});
      }
    }
  }

  const NetworkPlan& plan_;
  Topology::Parts& parts_;
  std::uint32_t first_rack_switch_ = 0;
  std::uint32_t first_pod_switch_ = 0;
  std::uint32_t first_core_switch_ = 0;
};

std::uint64_t count_level(const Topology::Parts& parts, Level level) {
  std::uint64_t n = 0;
  for (const Subtree& tree : parts.subtrees) n += tree.level == level ? 1U : 0U;
  return n;
}

bool same_network(const Topology::Parts& a, const Topology::Parts& b) {
  return a.nodes == b.nodes && a.links == b.links;
}

// The plan with rails that wires this network, if there is one.
std::optional<NetworkPlan> infer_rails(const Topology::Parts& parts) {
  const std::size_t servers = parts.servers.size();
  if (servers == 0 || parts.nodes.size() <= servers || parts.subtrees.size() < 2 ||
      parts.nodes[servers].name != parts.subtrees[1].name + "-rail0") {
    return std::nullopt;
  }
  NetworkPlan plan;
  plan.rack_switches = 0;
  for (; plan.rail_switches < parts.links.size() && parts.links[plan.rail_switches].a == 0;) {
    ++plan.rail_switches;
  }
  const std::uint64_t rails = count_level(parts, Level::pod) * plan.rail_switches;
  if (plan.rail_switches == 0 || servers + rails > parts.nodes.size()) return std::nullopt;
  plan.rail_latency_us = parts.links[0].latency_us;
  plan.core_switches = static_cast<std::uint32_t>(parts.nodes.size() - servers - rails);
  if (const std::size_t up = servers * plan.rail_switches; up < parts.links.size()) {
    plan.core_gbps = parts.links[up].gbps;
    plan.core_latency_us = parts.links[up].latency_us;
  }
  for (const bool striped : {false, true}) {
    plan.striped = striped;
    if (striped && plan.core_switches % plan.rail_switches != 0) continue;
    if (size_of(plan, parts).links != parts.links.size()) continue;
    Topology::Parts trial = parts;
    wire(plan, trial);
    if (same_network(trial, parts)) return plan;
  }
  return std::nullopt;
}

}  // namespace

NetworkSize size_of(const NetworkPlan& plan, const Topology::Parts& parts) {
  if (plan.rail_switches > 0) {
    const std::uint64_t rails = count_level(parts, Level::pod) * plan.rail_switches;
    const std::uint32_t up =
        plan.striped ? plan.core_switches / plan.rail_switches : plan.core_switches;
    return {rails + plan.core_switches,
            std::uint64_t{plan.rail_switches} * parts.servers.size() + rails * up};
  }
  if (plan.rack_switches == 0) return {};
  const std::uint64_t rack_switches = count_level(parts, Level::rack) * plan.rack_switches;
  const std::uint64_t pod_switches = count_level(parts, Level::pod) * plan.pod_switches;
  const std::uint64_t group = plan.pod_switches > 0 ? plan.pod_switches : plan.rack_switches;
  const std::uint64_t stripe = plan.striped ? plan.core_switches / group : plan.core_switches;
  return {rack_switches + pod_switches + plan.core_switches,
          std::uint64_t{plan.rack_switches} * parts.servers.size() +
              rack_switches * plan.pod_switches +
              (plan.pod_switches > 0 ? pod_switches : rack_switches) * stripe};
}

void wire(const NetworkPlan& plan, Topology::Parts& parts) { Wiring(plan, parts).run(); }

std::optional<NetworkPlan> infer_plan(const Topology::Parts& parts) {
  NetworkPlan plan;
  if (parts.nodes.empty()) {
    plan.rack_switches = 0;
    return plan;
  }
  if (const auto rails = infer_rails(parts)) return rails;
  const auto servers = static_cast<std::uint32_t>(parts.servers.size());
  const std::uint64_t racks = count_level(parts, Level::rack);
  const std::uint64_t pods = count_level(parts, Level::pod);
  plan.rack_switches = 0;
  while (plan.rack_switches < parts.links.size() && parts.links[plan.rack_switches].a == 0 &&
         servers > 0) {
    ++plan.rack_switches;
  }
  const std::uint64_t switches = parts.nodes.size() - servers;
  if (plan.rack_switches == 0 || plan.rack_switches * racks > switches) return std::nullopt;
  plan.rack_latency_us = parts.links[0].latency_us;
  const std::uint64_t above = switches - plan.rack_switches * racks;
  const std::uint64_t server_links = std::uint64_t{plan.rack_switches} * servers;
  std::uint32_t fan_out = 0;  // links from the first rack switch upwards
  for (std::uint64_t i = server_links; i < parts.links.size() && parts.links[i].a == servers; ++i) {
    ++fan_out;
  }
  for (const bool with_pods : {false, true}) {
    plan.pod_switches = with_pods ? fan_out : 0;
    if (plan.pod_switches * pods > above) continue;
    plan.core_switches = static_cast<std::uint32_t>(above - plan.pod_switches * pods);
    const std::uint64_t pod_links = racks * plan.rack_switches * plan.pod_switches;
    if (plan.pod_switches > 0 && server_links < parts.links.size()) {
      plan.pod_gbps = parts.links[server_links].gbps;
      plan.pod_latency_us = parts.links[server_links].latency_us;
    }
    if (plan.core_switches > 0 && server_links + pod_links < parts.links.size()) {
      plan.core_gbps = parts.links[server_links + pod_links].gbps;
      plan.core_latency_us = parts.links[server_links + pod_links].latency_us;
    }
    for (const bool striped : {false, true}) {
      const std::uint32_t group = with_pods ? plan.pod_switches : plan.rack_switches;
      plan.striped = striped;
      if (striped && (group == 0 || plan.core_switches % group != 0)) continue;
      if (size_of(plan, parts).links != parts.links.size()) continue;
      Topology::Parts trial = parts;
      wire(plan, trial);
      if (same_network(trial, parts)) return plan;
    }
  }
  return std::nullopt;
}

}  // namespace starling
