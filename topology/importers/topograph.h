#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

[[nodiscard]] bool is_topograph_yaml(std::string_view text) noexcept;

/// topograph's YAML: a tree of `switches`, and `blocks` of nodes below the lowest of them, which
/// become racks. Nodes are taken for DGX-H100, because the file names no hardware. NVLink domains
/// that span nodes are left out: an island lies within a server. `invalid` with file:line:column.
[[nodiscard]] Result<Topology> import_topograph(const std::string& text,
                                                const std::string& file_name);

}  // namespace starling
