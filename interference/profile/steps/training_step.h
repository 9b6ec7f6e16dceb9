// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "interference/profile/workload_spec.h"

namespace starling {

class Exchange;

/// A training step that can be run again and again: forward, backward, update.
class TrainingStep {
 public:
  virtual ~TrainingStep() = default;
  /// False once it cannot go on, because the other rank is gone.
  [[nodiscard]] virtual bool run() = 0;
};

struct StepOptions {
  WorkloadSpec spec;
  bool gpu = false;
  std::uint64_t seed = 1;
  Exchange* exchange = nullptr;  ///< the workload "network" needs one; not owned
};
/// `unsupported`: a GPU is asked for and this libtorch cannot use one.
[[nodiscard]] Result<std::unique_ptr<TrainingStep>> make_step(const StepOptions& options);

/// What this libtorch can use.
[[nodiscard]] bool torch_sees_gpu();
[[nodiscard]] std::string torch_version();

}  // namespace starling
