// SPDX-License-Identifier: Apache-2.0
#include "sim/published/papers.h"

namespace starling {

std::span<const Reproduction> reproductions() {
  static const std::vector<Reproduction> all = {
      muri(), openb_fgd(), philly_week(), gavel_96(), shockwave(), pollux(),
  };
  return all;
}

}  // namespace starling
