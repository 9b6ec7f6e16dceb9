// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace starling {

/// How many bytes have to be put in, left out or replaced to make one of the other (Levenshtein's
/// distance). Takes as many steps as the product of their lengths.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace starling
