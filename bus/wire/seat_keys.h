// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace starling {

/// Whether a node that proves `key` is let in as a seat of which `own` is the present public key.
/// `also`: others of its keys, while they are exchanged.
[[nodiscard]] bool is_key_of_seat(std::string_view key, std::string_view own,
                                  std::span<const std::string> also);

}  // namespace starling
