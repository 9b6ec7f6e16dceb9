// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/time.h"
#include "launch/hardware/gpu_judge.h"
#include "launch/hardware/health_options.h"
#include "launch/hardware/nvml.h"

namespace starling {

/// Looks after this machine in threads of its own, because a sick driver and a probe may hang: GPUs
/// by NVML every gpu_interval, the command every interval. What hangs leaves the last word as it
/// is, but for a command that is late, which has failed; one that a requested stop ends says
/// nothing. For any thread.
class MachineWatch {
 public:
  /// `gpus`: also by NVML, if there is one. `clock` outlives it.
  MachineWatch(HealthOptions options, bool gpus, const Clock& clock,
               std::string library = kNvmlLibrary);
  /// A thread that hangs is left behind after a second.
  ~MachineWatch();
  MachineWatch(const MachineWatch&) = delete;
  MachineWatch& operator=(const MachineWatch&) = delete;

  struct Word {
    std::map<std::uint32_t, GpuJudge::Verdict> gpus;  ///< by NVML's indices; none: no driver
    Instant looked = Instant::min();                  ///< when the driver answered last
    std::string failed;         ///< why the command has failed; empty: it has not
    std::uint64_t version = 0;  ///< grows when something changes that is worth saying
  };
  [[nodiscard]] Word word() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace starling
