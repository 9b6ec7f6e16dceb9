// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace starling {

/// A word for a POSIX shell, whatever is in it.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace starling
