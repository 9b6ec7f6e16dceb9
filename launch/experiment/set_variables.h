// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "launch/experiment/load_experiment.h"

namespace starling {

/// What an experiment file may have at most.
constexpr std::size_t kExperimentBytes = std::size_t{4} << 20U;

/// Names of all ${NAME} in the text of an experiment, comments apart.
[[nodiscard]] std::set<std::string> variables_of(const std::string& text);

/// "NAME=VALUE,NAME=VALUE" for a text with the variables `used`. A value may have commas: it goes
/// on up to the next piece that is NAME= of a variable. `invalid` names what is no variable of the
/// text: what comes first, and later pieces whose name is in capitals, as variables' names are.
[[nodiscard]] Result<Variables> split_variables(const std::string& set,
                                                const std::set<std::string>& used);
/// The same for a file. One that cannot be read has no variables: load_experiment() says why.
[[nodiscard]] Result<Variables> read_variables(const std::filesystem::path& file,
                                               const std::string& set);

/// The policies that the file names, as it writes them, so that those that are no part of the
/// program can be added to a registry first; none where it cannot be read, which
/// load_experiment() says.
[[nodiscard]] std::vector<std::string> policies_in(const std::filesystem::path& file);

}  // namespace starling
