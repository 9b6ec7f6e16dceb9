// SPDX-License-Identifier: Apache-2.0
#include "topology/builder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace starling {

void islands_by_switch(Server& server) {
  STARLING_CHECK(!server.switches.empty());
  server.gpus_per_island = 1;
  server.switch_islands = false;
  for (const PcieSwitch& below : server.switches) {
    server.gpus_per_island = std::max(server.gpus_per_island, below.gpus);
    server.switch_islands |= below.gpus != server.switches[0].gpus;
  }
}

TopologyBuilder::TopologyBuilder(std::string name) {
  parts_.name = std::move(name);
  parts_.subtrees.push_back({Level::data_center, parts_.name, 0, {}, {}});
}

GpuTypeId TopologyBuilder::gpu_type(const GpuType& type) {
  for (std::size_t i = 0; i < parts_.gpu_types.size(); ++i) {
    if (parts_.gpu_types[i].name == type.name) return GpuTypeId(static_cast<std::uint16_t>(i));
  }
  parts_.gpu_types.push_back(type);
  return GpuTypeId(static_cast<std::uint16_t>(parts_.gpu_types.size() - 1));
}

const std::string& TopologyBuilder::begin_pod(std::string name) {
  if (name.empty()) name = "p" + std::to_string(pods_);
  const Subtree& root = parts_.subtrees[0];
  const IndexRange servers{root.servers.last, root.servers.last};
  const IndexRange gpus{root.gpus.last, root.gpus.last};
  pod_ = static_cast<std::uint32_t>(parts_.subtrees.size());
  rack_ = 0;
  racks_in_pod_ = 0;
  ++pods_;
  return parts_.subtrees.emplace_back(Subtree{Level::pod, std::move(name), 0, servers, gpus}).name;
}

const std::string& TopologyBuilder::begin_rack(std::string name) {
  STARLING_CHECK(pod_ != 0);
  if (name.empty()) name = parts_.subtrees[pod_].name + "-r" + std::to_string(racks_in_pod_);
  const Subtree& root = parts_.subtrees[0];
  const IndexRange servers{root.servers.last, root.servers.last};
  const IndexRange gpus{root.gpus.last, root.gpus.last};
  rack_ = static_cast<std::uint32_t>(parts_.subtrees.size());
  ++racks_in_pod_;
  return parts_.subtrees.emplace_back(Subtree{Level::rack, std::move(name), pod_, servers, gpus})
      .name;
}

const std::string& TopologyBuilder::add_server(Server server, std::uint32_t gpus) {
  STARLING_CHECK(rack_ != 0);
  const Subtree& rack = parts_.subtrees[rack_];
  if (server.name.empty()) server.name = rack.name + "-s" + std::to_string(rack.servers.size());
  server.gpus = {rack.gpus.last, rack.gpus.last + gpus};
  for (const std::uint32_t at : {std::uint32_t{0}, pod_, rack_}) {
    ++parts_.subtrees[at].servers.last;
    parts_.subtrees[at].gpus.last += gpus;
  }
  return parts_.servers.emplace_back(std::move(server)).name;
}

Topology TopologyBuilder::build() && { return Topology(std::move(parts_)); }

Topology TopologyBuilder::build(const NetworkPlan& plan) && {
  wire(plan, parts_);
  return Topology(std::move(parts_));
}

}  // namespace starling
