// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace starling {

/// Could a file be written there? `invalid` says what is wrong with the name, and what would be
/// right: "nodir/x.csv: there is no folder nodir; make it, or give another name".
[[nodiscard]] Status check_out_file(const std::string& file);

}  // namespace starling
