// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

[[nodiscard]] bool is_topograph_yaml(std::string_view text) noexcept;

/// topograph's YAML: a tree of `switches`, and `blocks` of nodes below the lowest of them, which
/// become racks. Nodes that share an accelerator domain with others are taken for trays of a GB200
/// NVL72, all others for DGX-H100, because the file names no hardware. `invalid` with
/// file:line:column.
[[nodiscard]] Result<Topology> import_topograph(const std::string& text,
                                                const std::string& file_name);

}  // namespace starling
