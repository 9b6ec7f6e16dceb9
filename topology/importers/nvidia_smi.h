// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "topology/topology.h"

namespace starling {

[[nodiscard]] bool is_nvidia_smi_matrix(std::string_view first_line) noexcept;

/// `nvidia-smi topo -m`, columns apart by tabs: NV# are # NVLinks, PIX and PXB one PCIe switch, the
/// rest farther. GPUs that have PIX or PXB to one another or to the same NIC share a switch; equal
/// CPU affinity is one socket. Islands are the largest equal runs of GPUs of which every two have
/// NVLink. NVLinks carry 200 Gbit/s each; the model follows from their number (18 H100, 12 A100, 6
/// V100, 4 P100), and the NICs' speed from the model (400, 200, else 100 Gbit/s). NICs that share
/// no switch with a GPU are left out if others do. `invalid` with file:line.
[[nodiscard]] Result<Topology> import_nvidia_smi(const std::string& text,
                                                 const std::string& file_name);

}  // namespace starling
