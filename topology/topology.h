// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"

namespace starling {

/// Levels of the tree, from the whole to the part. A level may be absent (a node list without racks
/// has one pod and one rack). An island is the GPUs that reach one another over NVLink or one PCIe
/// switch.
enum class Level : std::uint8_t { data_center, pod, rack, server, island, gpu };
[[nodiscard]] const char* name_of(Level level) noexcept;

/// How far apart a gang's GPUs are: the slowest thing that its messages cross. domain: the
/// interconnect of a scale-up domain.
enum class Tier : std::uint8_t { island, domain, server, rack, network };
constexpr int kTiers = 5;
[[nodiscard]] const char* name_of(Tier tier) noexcept;

/// Half-open range of depth-first GPU or server indices.
struct IndexRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  [[nodiscard]] std::uint32_t size() const noexcept { return last - first; }
  [[nodiscard]] bool contains(std::uint32_t i) const noexcept { return i >= first && i < last; }
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

using GpuTypeId = Id<struct GpuTypeTag, std::uint16_t>;  ///< index into Topology::gpu_types()

struct GpuType {
  std::string name;  ///< as people write it: V100, A100-80GB
  double memory_gib = 16;
  friend bool operator==(const GpuType&, const GpuType&) = default;
};

/// GPUs that stand next to one another below one PCIe switch, or one GPU at its own root port.
struct PcieSwitch {
  std::uint32_t socket = 0;  ///< of the server, from 0; a server's switches ascend by socket
  std::uint32_t gpus = 1;
  friend bool operator==(const PcieSwitch&, const PcieSwitch&) = default;
};

/// One server. Servers are numbered depth-first, so the servers of a rack or pod are a range, and
/// so are their GPUs. A server without GPUs has an empty range.
struct Server {
  std::string name;
  IndexRange gpus;
  GpuTypeId gpu_type;  ///< meaningless without GPUs
  std::uint32_t gpus_per_island = 1;
  double cpus = 0;  ///< here and below 0: not said, so nothing is held to it
  double memory_gib = 0;
  double nic_gbps = 100;     ///< to the network, all ports together
  double island_gbps = 400;  ///< between GPUs of one island
  double server_gbps = 128;  ///< between islands of one server
  std::uint32_t nics = 1;    ///< ports to the network
  /// Where each GPU is plugged in, GPU after GPU; empty where it is not known.
  std::vector<PcieSwitch> switches = {};
  /// The islands are the switches, which differ in size; gpus_per_island is that of the largest.
  bool switch_islands = false;
  /// Of each GPU, in units of the fastest of its type: in [kSlowestGpu, 1]. Empty: all 1.
  std::vector<double> gpu_speeds = {};
  static constexpr double kSlowestGpu = 0.05;
  friend bool operator==(const Server&, const Server&) = default;
};

/// Consecutive servers whose GPUs reach one another over an interconnect of their own beside the
/// network: an NVL72's rack over NVLink, a pod of hosts over the links of its torus.
struct ScaleUpDomain {
  IndexRange servers;
  double gbps = 0;  ///< of each GPU, in one direction
  friend bool operator==(const ScaleUpDomain&, const ScaleUpDomain&) = default;
};

/// A vertex of the tree above servers; the root is vertex 0, parents precede children.
struct Subtree {
  Level level = Level::data_center;
  std::string name;
  std::uint32_t parent = 0;  ///< the root is its own parent
  IndexRange servers;
  IndexRange gpus;
  friend bool operator==(const Subtree&, const Subtree&) = default;
};

/// A switch or server of the network, and the links between them.
struct NetworkNode {
  std::string name;
  bool is_server = false;
  ServerId server;  ///< if is_server
  friend bool operator==(const NetworkNode&, const NetworkNode&) = default;
};
struct NetworkLink {
  std::uint32_t a = 0;  ///< index into Topology::network_nodes()
  std::uint32_t b = 0;
  double gbps = 0;
  double latency_us = 0;
  friend bool operator==(const NetworkLink&, const NetworkLink&) = default;
};

/// The way from one server to another.
struct Route {
  std::vector<std::uint32_t> links;  ///< indices into network_links(), from source to target
  double latency_us = 0;
  double bottleneck_gbps = 0;
};

/// The data centre. Immutable after it is built; copies share everything, so copying is cheap.
/// GPUs and servers are numbered depth-first: every subtree is a range of both.
class Topology {
 public:
  struct Parts {
    std::string name;
    std::vector<GpuType> gpu_types;
    std::vector<Subtree> subtrees;       ///< data centre, pods, racks; depth-first
    std::vector<Server> servers;         ///< depth-first
    std::vector<ScaleUpDomain> domains;  ///< ascending, apart, of two servers with GPUs or more
    std::vector<NetworkNode>
        nodes;  ///< empty, or first the servers in their order, then the switches
    std::vector<NetworkLink> links;
    friend bool operator==(const Parts&, const Parts&) = default;
  };
  /// Checks that ranges nest and cover; a builder that hands in something else is a broken
  /// invariant.
  explicit Topology(Parts parts);

  [[nodiscard]] const Parts& parts() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept;
  [[nodiscard]] std::uint32_t gpu_count() const noexcept;
  [[nodiscard]] std::uint32_t server_count() const noexcept;
  [[nodiscard]] std::span<const GpuType> gpu_types() const noexcept;
  [[nodiscard]] std::span<const Server> servers() const noexcept;
  [[nodiscard]] const Server& server(ServerId id) const noexcept;
  [[nodiscard]] std::span<const Subtree> subtrees() const noexcept;
  [[nodiscard]] std::span<const ScaleUpDomain> domains() const noexcept;
  [[nodiscard]] std::span<const NetworkNode> network_nodes() const noexcept;
  [[nodiscard]] std::span<const NetworkLink> network_links() const noexcept;

  // Constant time each.
  [[nodiscard]] ServerId server_of(GpuId gpu) const noexcept;
  [[nodiscard]] std::uint32_t rack_of(ServerId server) const noexcept;  ///< index into subtrees()
  [[nodiscard]] std::uint32_t pod_of(ServerId server) const noexcept;
  /// Index into domains(); kNoDomain for a server of none.
  static constexpr std::uint32_t kNoDomain = ~0U;
  [[nodiscard]] std::uint32_t domain_of(ServerId server) const noexcept;
  [[nodiscard]] std::uint32_t island_of(
      GpuId gpu) const noexcept;  ///< numbered over the data centre
  [[nodiscard]] GpuTypeId type_of(GpuId gpu) const noexcept;
  /// In units of the fastest of its type.
  [[nodiscard]] double gpu_speed(GpuId gpu) const noexcept;
  /// Of the GPU within its server, from 0; 0 where the inner layout is not known.
  [[nodiscard]] std::uint32_t socket_of(GpuId gpu) const noexcept;
  [[nodiscard]] std::uint32_t switch_of(GpuId gpu) const noexcept;
  /// The slowest tier that `gpus` cross; island for one GPU or none.
  [[nodiscard]] Tier tier_of(std::span<const GpuId> gpus) const noexcept;

  /// Shortest route by latency, then fewest hops (Boost.Graph's Dijkstra); empty when there is none
  /// or both are one server. Computed on first use per source and kept while there is room; safe
  /// from several threads.
  [[nodiscard]] Route route(ServerId from, ServerId to) const;

  /// Same names, tree, hardware and network.
  friend bool operator==(const Topology& a, const Topology& b) { return a.parts() == b.parts(); }

 private:
  struct Data;
  std::shared_ptr<Data> data_;
};

}  // namespace starling
