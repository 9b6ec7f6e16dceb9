// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/chaos/machine/manners.h"

namespace starling::chaos_live {

/// What a worker does by its manner before it sleeps: leaves processes behind that hold its locks
/// on, for 90 s at most, stops listening, writes, puts FIFOs in the place of its files. Returns in
/// the worker alone; `wait`, `fail` and `fail_one` are none of its business.
void misbehave(Manner manner);

}  // namespace starling::chaos_live
