// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.h"

namespace starling {

/// What a GPU of a type costs in a partition: GPUs of it that are wanted, by jobs that run and that
/// wait, for each that there is. Shared out evenly, so many times slower is a job with a part;
/// below 1 there is some for everybody. Finite, not negative. A hint: nothing safe depends on it.
struct TypePrice {
  GpuTypeId type;
  float value = 0;
  friend bool operator==(const TypePrice&, const TypePrice&) = default;
};

}  // namespace starling
