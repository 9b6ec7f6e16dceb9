// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace starling {

/// One container on one server, and what it asks for. GPUs are counted in thousandths: a pod takes
/// `gpu_milli` of each of `gpus` GPUs, and only a pod with one GPU may take less than 1000 of it.
struct Pod {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::uint32_t gpus = 0;
  std::uint32_t gpu_milli = 0;          ///< 0 exactly if gpus is 0
  std::vector<std::string> gpu_models;  ///< any of these; empty: any at all
  Duration created{0};                  ///< from the start of the trace, if the list is timed
  Duration deleted{0};

  /// Of all its GPUs together.
  [[nodiscard]] std::int64_t total_gpu_milli() const noexcept {
    return std::int64_t{gpus} * gpu_milli;
  }
};

struct PodList {
  std::string name;
  std::vector<Pod> pods;  ///< in the order of the file
  bool timed = false;     ///< it has the columns creation_time and deletion_time
};

/// Reads a list of pods as Alibaba's openb (2023) has it, plain or gzip: the columns
/// name,cpu_milli,memory_mib,num_gpu,gpu_milli, and where they stand beside them gpu_spec ("A|B" is
/// either) and creation_time,deletion_time in seconds. Other columns are ignored. Every row is a
/// pod, with a GPU or not, scheduled in its time or not: read_trace drops those, since a job has to
/// run for some time on some GPU. `invalid` names file and line, what is wrong and what would be
/// right; `io` if the file cannot be read.
[[nodiscard]] Result<PodList> read_pods(const std::filesystem::path& file);

}  // namespace starling
