// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// What the help of a command says, in parts.
struct CommandHelp {
  /// An option or what stands after them.
  struct Option {
    std::string names;  ///< "-n, --name"; of what stands after the options its name alone
    std::string value;  ///< what stands after the option: FILE; empty for a flag
    std::string help;
  };
  struct Below {
    std::string name, help;
  };
  std::string path;  ///< "topology draw"; empty: the program itself
  std::string help;
  std::vector<Option> options;
  std::vector<Option> positionals;
  std::vector<Below> commands;
  std::vector<std::string> examples;  ///< whole command lines
};

/// "starling-topology-draw", as git names its own: the page of a command is this and ".1".
[[nodiscard]] std::string manual_name(const std::string& program, const CommandHelp& command);

/// A page of the manual (section 1, the macros of man(7)) that says what `--help` says. Its foot
/// has the version and no date, so that a build gives the same page at any time.
[[nodiscard]] std::string manual_page(const std::string& program, const std::string& version,
                                      const CommandHelp& command);

/// Writes a page for each of `commands` into `folder`, which is made if need be: how many. What is
/// there under such a name and is no page of this program's stays, and is `invalid`.
[[nodiscard]] Result<std::size_t> write_manual(const std::filesystem::path& folder,
                                               const std::string& program,
                                               const std::string& version,
                                               const std::vector<CommandHelp>& commands);

}  // namespace starling
