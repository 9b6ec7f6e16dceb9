// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace starling {

/// Names by Slurm's notation: "gpu[01-03,7],login" is gpu01, gpu02, gpu03, gpu7, login. `invalid`
/// says what is wrong; at most 1 048 576 names.
[[nodiscard]] Result<std::vector<std::string>> expand_hosts(std::string_view text);

}  // namespace starling
