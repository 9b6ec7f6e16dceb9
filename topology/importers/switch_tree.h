// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "topology/reading/diagnostics.h"
#include "topology/topology.h"

namespace starling {

/// Switches over switches over nodes, as cluster managers write them.
struct SwitchTree {
  struct Switch {
    std::string name;
    std::vector<std::string> children;  ///< switches
    std::vector<std::string> nodes;
    SourcePlace place;
  };
  std::vector<Switch> switches;
  std::map<std::string, std::string> domains;  ///< by node: the scale-up domain that it is in
};

/// What a node holds. GPUs by socket, in order; none: a server without GPUs.
struct NodeHardware {
  std::string gpu_type;  ///< any label
  std::vector<std::uint32_t> gpus_by_socket;
};

/// What such files leave out.
struct SwitchTreeOptions {
  std::string server_template = "dgx-h100";  ///< of nodes of which nothing else is known
  /// Of those that share a scale-up domain, whose speed is that of its NVLink.
  std::string domain_template = "gb200-nvl72";
  /// By node; with any given, a node that is not listed has no GPUs.
  std::map<std::string, NodeHardware> hardware = {};
};

/// A switch with nodes is a rack, the switch above it a pod; a link upwards carries what all
/// servers below it send. A scale-up domain whose nodes do not come one after another is left out.
/// Reports children that do not exist, loops, names that occur twice, and
/// switches that hold both switches and nodes or neither.
[[nodiscard]] Result<Topology> build_switch_tree(const SwitchTree& tree,
                                                 const std::string& file_name,
                                                 Diagnostics& diagnostics,
                                                 const SwitchTreeOptions& options = {});

}  // namespace starling
