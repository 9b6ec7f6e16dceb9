// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// The parts of an experiment as an array of Slurm: one task a part, all into one folder that every
/// node sees.
struct SlurmArray {
  std::string name;
  std::filesystem::path out;         ///< absolute; has slurm/ with the script, the array's id, logs
  std::vector<std::string> command;  ///< of a task, without --part, --out and --quiet
  std::uint32_t parts = 1;
  std::string options;  ///< of sbatch, as in a script: "--cpus-per-task=4 --partition=short"
  /// Parts that have runs left to do.
  std::function<std::vector<std::uint32_t>()> left;
  std::function<std::uint64_t()> runs_left;     ///< in all of them
  std::function<void(const std::string&)> say;  ///< a line for people
};

/// Submits parts that have runs left, watches the queue, and submits those again that ended with
/// some left, until none has, or a whole array has done no run. Killed or interrupted it leaves the
/// array alone, and the next call with the same folder goes on with it. `io`: Slurm refuses, or its
/// programs are not there; `busy`: a stop was requested.
[[nodiscard]] Status run_array(const SlurmArray& array);

}  // namespace starling
