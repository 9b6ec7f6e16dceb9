// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

[[nodiscard]] bool is_slurm_conf(std::string_view text) noexcept;
[[nodiscard]] bool is_slurm_yaml(std::string_view text) noexcept;

/// Slurm's topology.conf (SwitchName= or BlockName= lines) with, if not empty, its gres.conf:
/// Name=gpu lines give each node's GPUs (Count= or File=) and their Type; lines of other Cores= are
/// other sockets. Without gres.conf nodes are taken for DGX-H100; with it NVLink islands are of up
/// to 8 GPUs. `invalid` with file:line; mistakes of the gres.conf name that file.
[[nodiscard]] Result<Topology> import_slurm_conf(const std::string& text,
                                                 const std::string& file_name,
                                                 const std::string& gres_text = {},
                                                 const std::string& gres_name = "gres.conf");

/// Slurm's topology.yaml: of its topologies the default one, or else the first that is a tree or
/// made of blocks. The gres.conf as above.
[[nodiscard]] Result<Topology> import_slurm_yaml(const std::string& text,
                                                 const std::string& file_name,
                                                 const std::string& gres_text = {},
                                                 const std::string& gres_name = "gres.conf");

}  // namespace starling
