// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

[[nodiscard]] bool is_nccl_xml(std::string_view text) noexcept;

/// NCCL's topology of one machine (NCCL_TOPO_FILE): <cpu> is a socket, a <pci> that holds others a
/// PCIe switch, a <pci> of class 0x03 a GPU, of class 0x02 a NIC. Where no class is given, sockets
/// hold equally many GPUs and what one has beyond them are NICs. The files hold no NVLink and often
/// no GPU model: for the cloud machines ndv2, ndv4, ndv5, p4d, p4de and g5 the file's name tells
/// both; otherwise the PCI device or SM number tells the model, and islands are the switches.
/// `invalid` with file:line.
[[nodiscard]] Result<Topology> import_nccl(const std::string& text, const std::string& file_name);

}  // namespace starling
