// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "topology/topology.h"

namespace starling {

/// A switched network by rule. Every server reaches each switch of its rack with an equal part of
/// its NIC; every rack switch reaches each switch of its pod; every switch of the layer below the
/// core (pod switches, or rack switches where there are none) reaches the core. Names: RACK-sw0,
/// POD-sw0, core0. With rails there are no rack and pod switches: every server reaches each rail
/// switch of its pod (POD-rail0) with an equal part of its NIC, and the rail switches reach the
/// core.
struct NetworkPlan {
  std::uint32_t rack_switches = 1;  ///< per rack; 0: no network at all
  double rack_latency_us = 1;
  std::uint32_t pod_switches = 0;  ///< per pod
  double pod_gbps = 100;           ///< of one link
  double pod_latency_us = 1;
  std::uint32_t rail_switches = 0;  ///< per pod; then rack_switches and pod_switches are 0
  double rail_latency_us = 1;
  std::uint32_t core_switches = 0;  ///< in the data centre
  double core_gbps = 100;
  double core_latency_us = 1;
  /// Switch i of n reaches only the i-th n-th of the core (a fat-tree), not all of it. Then
  /// core_switches is a multiple of n.
  bool striped = false;
  friend bool operator==(const NetworkPlan&, const NetworkPlan&) = default;
};

/// Switches and links that wire() would add, to refuse an absurd plan before building it.
struct NetworkSize {
  std::uint64_t switches = 0;
  std::uint64_t links = 0;
};
[[nodiscard]] NetworkSize size_of(const NetworkPlan& plan, const Topology::Parts& parts);

/// Replaces the nodes and links of `parts` by those of the plan. Its tree must be complete.
void wire(const NetworkPlan& plan, Topology::Parts& parts);

/// The plan that wires exactly this network, if there is one.
[[nodiscard]] std::optional<NetworkPlan> infer_plan(const Topology::Parts& parts);

}  // namespace starling
