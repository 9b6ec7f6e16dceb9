// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace starling {

/// What is wrong in a file of YAML, and where. The first mistake ends the reading: it travels as an
/// exception within the reader of a file, as yaml-cpp's own do, and leaves it as an Error.
struct YamlMistake {
  YAML::Mark mark;
  std::string what;
};

/// `invalid`: "file:line:column: what".
[[nodiscard]] Error yaml_error(const std::string& file, const YAML::Mark& mark,
                               const std::string& what);

// Values of a node, or a YamlMistake that says what would be right; `key` is what the node is.
[[nodiscard]] std::string yaml_text(const YAML::Node& node, const std::string& key);
[[nodiscard]] std::int64_t yaml_whole(const YAML::Node& node, const std::string& key,
                                      std::int64_t low, std::int64_t high);
[[nodiscard]] std::vector<std::string> yaml_texts(const YAML::Node& node, const std::string& key);
/// The node as messages show it: 'abc', empty, not one value.
[[nodiscard]] std::string yaml_shown(const YAML::Node& node);

/// "; did you mean 'b'?" of the name that is two typos away at most; empty: none is.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string_view> names);
/// That `key` is none of `known`, with the one that is meant, or all of them.
[[nodiscard]] std::string unknown_key(const std::string& key,
                                      std::span<const std::string_view> known);

}  // namespace starling
