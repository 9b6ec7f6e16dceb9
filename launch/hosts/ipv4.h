// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace starling {

/// The IPv4 address of a name, as this machine sees it; nothing if it has none.
[[nodiscard]] std::optional<std::string> ipv4_of(const std::string& name);

}  // namespace starling
