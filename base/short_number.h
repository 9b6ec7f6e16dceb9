// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace starling {

/// "0.25", "1500", "1e+09": six figures at most.
[[nodiscard]] std::string short_number(double x);

}  // namespace starling
