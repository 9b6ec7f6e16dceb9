// SPDX-License-Identifier: Apache-2.0
#include "topology/placement_text.h"

#include <cstddef>

namespace starling {

std::string placement_text(const Placement& gpus) {
  std::string text;
  for (std::size_t i = 0; i < gpus.size();) {
    std::size_t last = i;
    while (last + 1 < gpus.size() && gpus[last + 1].value == gpus[last].value + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(gpus[i].value);
    if (last > i) text += '-' + std::to_string(gpus[last].value);
    i = last + 1;
  }
  return text;
}

}  // namespace starling
