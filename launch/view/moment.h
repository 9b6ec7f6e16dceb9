// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/run_recorder.h"

namespace starling {

/// What there is at one instant of a recorded run.
struct Moment {
  double at_s = 0;
  std::vector<std::vector<std::uint32_t>> on_gpu;  ///< by GPU: the jobs that run there
  std::vector<std::uint32_t> running, waiting;     ///< jobs; those that wait in their order
  std::uint32_t busy_gpus = 0;
  std::vector<std::uint32_t> agents_down, executors_down;
  std::vector<GpuId> sick;
};
[[nodiscard]] Moment moment_of(const Recording& recording, double at_s);

/// The same as JSON, for programs.
[[nodiscard]] std::string moment_json(const Recording& recording, const Moment& moment);

/// The colour of a job, #rrggbb: neighbours in the trace differ. The page has the same.
[[nodiscard]] std::string colour_of_job(std::uint32_t job);

}  // namespace starling
