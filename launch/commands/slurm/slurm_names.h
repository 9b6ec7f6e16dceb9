// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace starling {

using Words = std::vector<std::string>;

/// One of Slurm's commands, as this program understands it.
struct SlurmName {
  const char* name;
  const char* does;
  int (*run)(const Words& words);  ///< what stands behind the name; the exit status
};
[[nodiscard]] std::span<const SlurmName> slurm_names();

/// Runs the command that the program is called by (a link of that name), or the one behind
/// `starling slurm`. Nothing: it is called otherwise.
[[nodiscard]] std::optional<int> run_slurm_name(int argc, char** argv);

// The commands; each prints as Slurm's does, and refuses by name what it does not know.
int run_sbatch(const Words& words);
int run_srun(const Words& words);
int run_squeue(const Words& words);
int run_sinfo(const Words& words);
int run_scancel(const Words& words);
int run_sacct(const Words& words);
int run_scontrol(const Words& words);

}  // namespace starling
