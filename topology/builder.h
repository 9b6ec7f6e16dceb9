// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "topology/network_plan.h"
#include "topology/topology.h"

namespace starling {

/// Makes the PCIe switches of `server`, of which there is at least one, its islands.
void islands_by_switch(Server& server);

/// Puts a tree together depth-first and keeps its ranges right: begin a pod, begin a rack, add
/// servers. Names that are empty become p0, p0-r0 and p0-r0-s0. The caller keeps names unique and
/// counts within the limits.
class TopologyBuilder {
 public:
  explicit TopologyBuilder(std::string name);

  /// The type of that name, added if it is new.
  GpuTypeId gpu_type(const GpuType& type);

  const std::string& begin_pod(std::string name = {});
  const std::string& begin_rack(std::string name = {});
  /// Adds `server` with `gpus` GPUs to the rack; server.gpus is filled in.
  const std::string& add_server(Server server, std::uint32_t gpus);

  /// What there is so far; nodes and links are free to edit once the last server is in.
  [[nodiscard]] Topology::Parts& parts() noexcept { return parts_; }

  [[nodiscard]] Topology build() &&;
  /// Wired by rule.
  [[nodiscard]] Topology build(const NetworkPlan& plan) &&;

 private:
  Topology::Parts parts_;
  std::uint32_t pods_ = 0;
  std::uint32_t racks_in_pod_ = 0;
  std::uint32_t pod_ = 0;   // index of the open pod, 0: none
  std::uint32_t rack_ = 0;  // index of the open rack, 0: none
};

}  // namespace starling
