// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.h"
#include "topology/placement.h"

namespace starling {

/// A running job whose GPUs a gang over several partitions may share, and what that would cost.
struct CoTenant {
  JobId job;
  Placement gpus;    ///< on which it is alone, ascending, in whole workers of the gang
  double speed = 1;  ///< of the gang there, as a part of that alone there; in (0, 1]
  double loss = 0;   ///< GPU speeds that the jobs there lose
};

}  // namespace starling
