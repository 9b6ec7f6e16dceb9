// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// Connects to each HOST:PORT (IPv4), 2 s each at most. `io`: "cannot reach 10.0.0.2:20001: ..."
[[nodiscard]] Status reach_all(const std::vector<std::string>& places);
/// Listens at each, says "listening" on stdout, and holds them until standard input ends or a stop
/// is requested. `io` names the place where it cannot.
[[nodiscard]] Status listen_all(const std::vector<std::string>& places);

}  // namespace starling
