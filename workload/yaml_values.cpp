// SPDX-License-Identifier: Apache-2.0
#include "workload/yaml_values.h"

#include "base/edit_distance.h"
#include "workload/text/csv.h"

namespace starling {

Error yaml_error(const std::string& file, const YAML::Mark& mark, const std::string& what) {
  const int line = mark.is_null() ? 0 : mark.line;
  const int column = mark.is_null() ? 0 : mark.column;
  return {Errc::invalid,
          file + ':' + std::to_string(line + 1) + ':' + std::to_string(column + 1) + ": " + what};
}

std::string yaml_shown(const YAML::Node& node) {
  return node.IsScalar() ? '\'' + node.Scalar().substr(0, 64) + '\''
         : node.IsNull() ? "empty"
                         : "not one value";
}

std::string yaml_text(const YAML::Node& node, const std::string& key) {
  if (!node.IsScalar())
    throw YamlMistake{node.Mark(), key + " is " + yaml_shown(node) + "; write one text"};
  return node.Scalar();
}

std::int64_t yaml_whole(const YAML::Node& node, const std::string& key, std::int64_t low,
                        std::int64_t high) {
  std::int64_t number = 0;
  if (!node.IsScalar() || !parse_number(node.Scalar(), number) || number < low || number > high) {
    throw YamlMistake{node.Mark(), key + " is " + yaml_shown(node) +
                                       "; write a whole number from " + std::to_string(low) +
                                       " to " + std::to_string(high)};
  }
  return number;
}

std::vector<std::string> yaml_texts(const YAML::Node& node, const std::string& key) {
  if (!node.IsSequence())
    throw YamlMistake{node.Mark(), key + " is " + yaml_shown(node) + "; write a list, as [a, b]"};
  std::vector<std::string> out;
  for (const YAML::Node& item : node) out.push_back(yaml_text(item, "an entry of " + key));
  return out;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> names) {
  if (name.size() > 64) return {};
  std::string_view best;
  std::size_t closest = 3;  // two typos at most
  for (const std::string_view candidate : names) {
    const std::size_t d = edit_distance(name, candidate);
    if (d < closest) best = candidate, closest = d;
  }
  return best.empty() ? "" : "; did you mean '" + std::string(best) + "'?";
}

std::string unknown_key(const std::string& key, std::span<const std::string_view> known) {
  std::string rest = did_you_mean(key, known);
  if (rest.empty()) {
    for (const std::string_view one : known)
      rest += (rest.empty() ? "; keys are " : ", ") + std::string(one);
  }
  return "key '" + key.substr(0, 64) + "' is unknown" + rest;
}

}  // namespace starling
