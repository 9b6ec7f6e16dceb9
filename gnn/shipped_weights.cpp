// SPDX-License-Identifier: Apache-2.0
#include "gnn/shipped_weights.h"

#include <cstddef>
#include <span>
#include <string>

namespace starling {

// Made when the program is built, of every weights file in a learned system's folder.
[[nodiscard]] std::span<const unsigned char> weights_bytes_of(std::string_view name);

Result<Weights> shipped_weights(std::string_view name) {
  const auto bytes = weights_bytes_of(name);
  if (!bytes.empty()) return parse_weights(std::as_bytes(bytes));
  return Error{Errc::not_found, "no weights are shipped for policy '" + std::string(name) + "'"};
}

}  // namespace starling
