// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace starling {

/// A command of the program, and what may follow it: commands below it, and its options.
struct CompletedCommand {
  std::string path;  ///< "topology draw"; empty: the program itself
  std::vector<std::string> words;
};

/// Scripts that complete commands and options of `program`, and otherwise files, in a shell that
/// reads them: `source <(starling completion bash)`. The one for zsh may also be a file `_PROGRAM`
/// of its fpath.
[[nodiscard]] std::string bash_completion(const std::string& program,
                                          const std::vector<CompletedCommand>& commands);
[[nodiscard]] std::string zsh_completion(const std::string& program,
                                         const std::vector<CompletedCommand>& commands);
[[nodiscard]] std::string fish_completion(const std::string& program,
                                          const std::vector<CompletedCommand>& commands);

}  // namespace starling
