// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/world/world.h"

namespace starling {

/// A mistake to practise on, in every build: once, while an executor is down, its machine starts a
/// process that was not ordered. Found in seeds where executors die, are restarted or stop; the
/// faults that are left when such a seed is made smaller say so.
void plant_demo(World& world);

}  // namespace starling
