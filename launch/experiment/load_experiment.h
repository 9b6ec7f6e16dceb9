// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"
#include "launch/experiment/experiment.h"

namespace starling {

/// Values for ${NAME} in file names. A name that is not here is looked up in the environment.
using Variables = std::map<std::string, std::string>;

/// Reads an experiment file (docs/experiments.md). Relative file names start from its folder.
/// `split`: the split to run instead of the one that the file names; empty: as the file says.
/// `io` if it cannot be read; `invalid` with one line per mistake, "file:line:column: what is
/// wrong; what would be right". Refused are also one topology, one part of a trace or overlapping
/// parts in two splits. The files that it names are not opened.
[[nodiscard]] Result<Experiment> load_experiment(const std::filesystem::path& file,
                                                 const PolicyRegistry& policies,
                                                 const Variables& variables = {},
                                                 const std::string& split = {});
/// The same for text at hand; `file` is for messages and relative names.
[[nodiscard]] Result<Experiment> parse_experiment(const std::string& text,
                                                  const std::filesystem::path& file,
                                                  const PolicyRegistry& policies,
                                                  const Variables& variables = {},
                                                  const std::string& split = {});

}  // namespace starling
