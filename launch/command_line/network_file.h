// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"
#include "sim/simulate.h"

namespace starling {

/// A YAML map with any of delay_us, jitter, loss, duplication, reorder; what it does not name stays
/// as in `base`. `invalid` names file, line, the key and what would be right.
[[nodiscard]] Result<NetworkModel> read_network_file(const std::filesystem::path& file,
                                                     NetworkModel base);

}  // namespace starling
