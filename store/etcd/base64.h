// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace starling {

/// Bytes as JSON carries them (RFC 4648, with padding).
[[nodiscard]] std::string to_base64(std::string_view bytes);
/// None for anything that to_base64 does not write.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace starling
