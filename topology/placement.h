// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/ids.h"

namespace starling {

/// GPUs of one gang, ascending.
using Placement = std::vector<GpuId>;

}  // namespace starling
