// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace starling {

/// What never changes of the graph of one partition: what is part of what, and what hardware it is.
/// A tree of vertices in six layers, the lower four of which are the inside of servers:
///
///   GPU -> island (NVLink or one PCIe switch) -> socket -> server -> rack -> pod -> the partition
///
/// Vertices of a layer are numbered from 0 in depth-first order, so the children of one are a
/// range. Costs O(GPUs) to make; the rest of gnn/ goes by it.
struct GraphShape {
  static constexpr std::size_t kIslandFeatures = 2;
  static constexpr std::size_t kServerHardware = 3;
  static constexpr std::size_t kTree = 4;
  /// Children of every vertex, as ranges of the layer below.
  struct Layer {
    std::vector<IndexRange> children;
    std::vector<std::uint32_t> parent;  ///< in the layer above
    [[nodiscard]] std::uint32_t size() const noexcept {
      return static_cast<std::uint32_t>(children.size());
    }
  };
  IndexRange gpus, servers;              ///< of the topology
  std::vector<std::uint32_t> island_of;  ///< by GPU of the partition
  Layer islands, sockets, hosts, racks, pods;
  std::vector<float> gpu_speed;        ///< by GPU: of its type, in V100s
  std::vector<float> gpu_memory;       ///< by GPU, in units of 80 GiB
  std::vector<float> island_hardware;  ///< [islands, kIslandFeatures]
  std::vector<float> server_hardware;  ///< [servers, kServerHardware]
  /// [racks, then pods, then the partition; kTree]: is a rack, a pod, the partition; servers.
  std::vector<float> tree_hardware;
};

[[nodiscard]] GraphShape make_graph_shape(const Topology& topology, IndexRange servers);

}  // namespace starling
