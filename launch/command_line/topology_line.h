// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "topology/topology.h"

namespace starling {

/// GPUs by the name of their type.
[[nodiscard]] std::map<std::string, std::uint32_t> gpus_by_type(const Topology& topology);
/// "leaf-spine-64x8: 1 pod, 8 racks, 64 servers, 512 GPUs (512 V100), 96 network links"
[[nodiscard]] std::string topology_line(const Topology& topology);

}  // namespace starling
