// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "topology/generate/generate.h"
#include "topology/reading/yaml_reader.h"

namespace starling {

/// The keys of a generated topology, in the order of GeneratorOptions.
[[nodiscard]] std::vector<std::string> generator_keys();

/// What `map` says of the sizes of generator `kind`. Reported are: a kind that does not exist,
/// sizes out of range, and sizes that this kind does not read.
[[nodiscard]] GeneratorOptions read_generator(Diagnostics& diagnostics, const YamlMap& map,
                                              const std::string& kind);

}  // namespace starling
