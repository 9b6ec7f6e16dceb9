// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/commands/slurm/slurm_names.h"

namespace starling {

/// An option of one of Slurm's commands that is understood here.
struct SlurmOption {
  char letter;  ///< 0: it has none
  const char* name;
  enum class Takes : unsigned char { nothing, value, perhaps } takes = Takes::nothing;
};

/// What stood on the command line: options by their long names, the last of each counting but for
/// those that may stand there several times.
struct SlurmSaid {
  std::map<std::string, Words> options;
  Words words;
  [[nodiscard]] bool has(const std::string& name) const { return options.contains(name); }
  [[nodiscard]] std::string text(const std::string& name) const {
    const auto at = options.find(name);
    return at == options.end() ? std::string() : at->second.back();
  }
  /// All of them, also where commas stand between them.
  [[nodiscard]] Words list(const std::string& name) const;
};

/// Reads `-n4`, `-n 4`, `-hn4`, `--name=value` and `--name value`. `stops`: what follows on the
/// first word is that word's. `invalid`: an option that is not among `known`, by its name.
[[nodiscard]] Result<SlurmSaid> read_slurm_words(const char* command,
                                                 std::span<const SlurmOption> known,
                                                 const Words& words, bool stops = false);

/// One message on stderr as Slurm's commands say theirs; exit status 1.
int slurm_error(const char* command, const std::string& what);

}  // namespace starling
