// SPDX-License-Identifier: Apache-2.0
#include "sim/run/sim_options.h"

#include <chrono>

namespace starling {

NetworkModel NetworkModel::lan() {
  NetworkModel model;
  model.delay = std::chrono::microseconds(100);
  model.jitter = 0.5;
  return model;
}

}  // namespace starling
