// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/graph_shape.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/check.h"
#include "interference/gpu_speed.h"

namespace starling {
namespace {

/// Opens a vertex of the layer when `key` is another than the last; returns its number.
class Opener {
 public:
  explicit Opener(GraphShape::Layer& layer) : layer_(layer) {}
  std::uint32_t at(std::uint64_t key, std::uint32_t child) {
    if (layer_.children.empty() || key != last_) layer_.children.push_back({child, child});
    last_ = key;
    layer_.children.back().last = child + 1;
    return layer_.size() - 1;
  }
  void parent(std::uint32_t vertex, std::uint32_t parent) {
    if (layer_.parent.size() <= vertex) layer_.parent.resize(vertex + 1);
    layer_.parent[vertex] = parent;
  }

 private:
  GraphShape::Layer& layer_;
  std::uint64_t last_ = ~0ULL;
};

float log2_of(double gbps, double least) {
  return static_cast<float>(std::log2(std::max(gbps, least)) / 10);
}

}  // namespace

GraphShape make_graph_shape(const Topology& topology, IndexRange servers) {
  GraphShape shape;
  shape.servers = servers;
  shape.gpus = {servers.size() == 0 ? 0 : topology.server(ServerId{servers.first}).gpus.first,
                servers.size() == 0 ? 0 : topology.server(ServerId{servers.last - 1}).gpus.last};
  Opener islands(shape.islands), sockets(shape.sockets), hosts(shape.hosts), racks(shape.racks),
      pods(shape.pods);
  std::vector<float> speeds, memories;
  for (const GpuType& type : topology.gpu_types()) {
    speeds.push_back(static_cast<float>(gpu_speed_factor(type.name)));
    memories.push_back(static_cast<float>(type.memory_gib / 80));
  }
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    const ServerId id{s};
    const Server& server = topology.server(id);
    const std::uint32_t host = s - servers.first;
    const std::uint32_t rack = racks.at(topology.rack_of(id), host);
    const std::uint32_t pod = pods.at(topology.pod_of(id), rack);
    racks.parent(rack, pod);
    pods.parent(pod, 0);
    shape.hosts.children.push_back({shape.sockets.size(), shape.sockets.size()});
    hosts.parent(host, rack);
    for (std::uint32_t g = server.gpus.first; g < server.gpus.last; ++g) {
      const GpuId gpu{g};
      const std::uint32_t island = islands.at(topology.island_of(gpu), g - shape.gpus.first);
      const std::uint32_t socket =
          sockets.at((std::uint64_t{s} << 32U) | topology.socket_of(gpu), island);
      islands.parent(island, socket);
      sockets.parent(socket, host);
      shape.hosts.children.back().last = socket + 1;
      shape.island_of.push_back(island);
      const GpuTypeId type = topology.type_of(gpu);
      shape.gpu_speed.push_back(speeds[type.value]);
      shape.gpu_memory.push_back(memories[type.value]);
    }
    shape.server_hardware.insert(shape.server_hardware.end(),
                                 {static_cast<float>(server.gpus.size()) / 8,
                                  log2_of(server.nic_gbps, 1), log2_of(server.server_gbps, 1)});
  }
  for (const IndexRange& gpus : shape.islands.children) {
    const Server& server =
        topology.server(topology.server_of(GpuId{shape.gpus.first + gpus.first}));
    shape.island_hardware.insert(shape.island_hardware.end(), {static_cast<float>(gpus.size()) / 8,
                                                               log2_of(server.island_gbps, 1)});
  }
  const auto vertex = [&](std::size_t layer, std::uint32_t below) {
    float x[GraphShape::kTree] = {0, 0, 0, static_cast<float>(std::log2(std::max(below, 1U)) / 10)};
    x[layer] = 1;
    shape.tree_hardware.insert(shape.tree_hardware.end(), std::begin(x), std::end(x));
  };
  for (const IndexRange& children : shape.racks.children) vertex(0, children.size());
  for (const IndexRange& children : shape.pods.children) {
    vertex(1, shape.racks.children[children.last - 1].last -
                  shape.racks.children[children.first].first);
  }
  vertex(2, servers.size());
  STARLING_CHECK(shape.hosts.size() == servers.size());
  return shape;
}

}  // namespace starling
