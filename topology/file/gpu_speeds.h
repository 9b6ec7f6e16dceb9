// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "topology/file/spec.h"
#include "topology/reading/diagnostics.h"

namespace YAML {
class Node;
}

namespace starling {

/// `gpu_speeds` of a topology file: SERVER: [1, 0.97, ...], a factor for each of its GPUs in units
/// of the fastest of its type. Servers that it does not name have GPUs as fast as their type.

/// Reads the mapping; mistakes go to `diagnostics`.
[[nodiscard]] std::vector<TopologySpec::GpuSpeeds> read_gpu_speeds(const YAML::Node& node,
                                                                   Diagnostics& diagnostics);
/// Gives them to the servers that they name. Reports names that no server has and lists that are
/// not as long as the server has GPUs. A list of ones is left out, as it says nothing.
void set_gpu_speeds(const std::vector<TopologySpec::GpuSpeeds>& all, std::vector<Server>& servers,
                    Diagnostics& diagnostics);
/// The mapping as text; empty if there is none to write. `quoted` writes names.
[[nodiscard]] std::string gpu_speeds_yaml(const std::vector<Server>& servers,
                                          std::string (*quoted)(const std::string&));

}  // namespace starling
