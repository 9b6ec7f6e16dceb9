// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

[[nodiscard]] bool is_hived_yaml(std::string_view text) noexcept;

/// HiveD's configuration: physicalCluster with cellTypes and physicalCells. A cell above nodes is a
/// rack, single nodes in a row share one; below a node the lowest cells are PCIe switches and the
/// highest sockets. skuTypes give CPUs and memory for each GPU, else 12 and 64 GiB. Islands are the
/// PCIe switches. A node address that occurs again (another GPU type of the node) gets its cell
/// type as suffix, because a server holds one type. `invalid` with file:line:column.
[[nodiscard]] Result<Topology> import_hived(const std::string& text, const std::string& file_name);

}  // namespace starling
