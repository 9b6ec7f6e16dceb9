// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "topology/topology.h"
#include "workload/catalogue.h"

namespace starling {

/// What a gang's exchange crosses: bandwidths in bytes per second of the slowest thing of each
/// kind, after what protocols take of them.
struct SyncPath {
  double local = 0;  ///< within servers and scale-up domains: what of them, and of PCIe, is crossed
  double network = 0;  ///< NICs and uplinks; not looked at where none is crossed
  Tier tier = Tier::island;
  double least_s = 0;  ///< an exchange takes no less, for what others send on its way
};

/// Parts of the nominal bandwidth that an exchange gets. Network: Pollux' measured sync times over
/// the 5 Gbit/s that one flow gets between its EC2 servers. PCIe: its 4-GPU servers, copies through
/// host memory. NVLink: assumed as the network.
constexpr double kIslandShare = 0.7;
constexpr double kPcieShare = 0.4;
constexpr double kNetworkShare = 0.7;

/// Of one step of the ring, or of one connection, over that tier.
[[nodiscard]] double step_latency_s(Tier tier) noexcept;

/// Those of a gang; none: it all-reduces.
struct ParameterServers {
  std::size_t count = 0;
  /// CPUs of each that it really gets. 0: they need none, and cost what their links do.
  double cpus = 0;
  ParameterServers(std::size_t how_many, double cpus_of_each = 0) noexcept
      : count(how_many), cpus(cpus_of_each) {}
};

/// Seconds of one iteration of a gang whose gradients take grad_s: with `parameter_servers`, or by
/// all-reduce where that is 0. A longer path, of a farther tier and no more bandwidth, never takes
/// less. `servers`: that have a way of their own to the network; a scale-up domain counts as one.
///
/// All-reduce: as fitted for the model (interference/fitted.h), else by the ring's formula with the
/// catalogue's bytes. Parameter servers (p of them, spread evenly over the gang's servers, w
/// workers): gradients, then 2 bytes/p over the busiest link, which carries max(p, w) flows within
/// a server and, between servers, those to or from the others; nothing overlaps. Where they need
/// CPUs: served_s of interference/parameter_servers.h.
[[nodiscard]] double synced_s(const ModelProfile& model, double grad_s, std::size_t gpus,
                              std::size_t servers, const ParameterServers& parameter_servers,
                              const SyncPath& path) noexcept;

/// Bytes that each server, or scale-up domain, sends to the network in one exchange of synced_s; of
/// models whose exchange was fitted, those that take as long as was measured. 0 for one server.
[[nodiscard]] double network_bytes(const ModelProfile& model, std::size_t gpus, std::size_t servers,
                                   const ParameterServers& parameter_servers) noexcept;

}  // namespace starling
