// SPDX-License-Identifier: Apache-2.0
#include "launch/processes/shell_word.h"

namespace starling {

std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace starling
