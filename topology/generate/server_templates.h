// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "topology/topology.h"

namespace starling {

/// A machine that people name: dgx-1, dgx-2, dgx-a100, dgx-h100, 4xt4, 8xa10, gb200-nvl72 (a
/// tray of it), tpu-v4 (a host of four chips). CPUs are hardware
/// threads; speeds are Gbit/s in one direction, as the vendors' data sheets give them.
struct ServerTemplate {
  std::string name;
  std::string gpu_type;  ///< one of known_gpu_types()
  std::uint32_t gpus = 0;
  Server server;  ///< without name, range and gpu_type
};

[[nodiscard]] std::span<const ServerTemplate> known_server_templates();
/// The one of that name, whatever its case.
[[nodiscard]] std::optional<ServerTemplate> known_server_template(std::string_view name);

}  // namespace starling
