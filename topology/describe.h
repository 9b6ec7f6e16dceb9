// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "topology/topology.h"

namespace starling {

/// For people, several lines: counts by level, GPU types, servers by kind, links by kind,
/// bisection.
[[nodiscard]] std::string describe(const Topology& topology);

/// SERVER/gpu3.
[[nodiscard]] std::string gpu_name(const Topology& topology, GpuId gpu);

/// Gbit/s of the links between the first and the second half of the servers; 0 without a network.
[[nodiscard]] double bisection_gbps(const Topology& topology);

/// What a network lacks, worst first.
struct Finding {
  enum class Severity { error, warning } severity = Severity::warning;
  std::string message;
};
/// Servers without links and a network in pieces are errors; no network at all, no GPUs, and racks
/// or pods whose links upwards carry less than their servers can send are warnings.
[[nodiscard]] std::vector<Finding> check_topology(const Topology& topology);

}  // namespace starling
