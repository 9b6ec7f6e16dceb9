// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/importers/node_list.h"
#include "topology/topology.h"

namespace starling {

inline constexpr const char* kOpenbHeader = "sn,cpu_milli,memory_mib,gpu,model";
[[nodiscard]] bool is_openb_header(std::string_view line) noexcept;

/// Alibaba's openb node list (2023): one server a row. Nodes without GPUs stay, as servers without
/// GPUs. Its racks were not published; see the options. `invalid` with a line per bad row.
[[nodiscard]] Result<Topology> import_openb(const std::string& text, const std::string& file_name,
                                            const NodeListOptions& options = {});

}  // namespace starling
