// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/reading/diagnostics.h"

namespace starling {

[[nodiscard]] inline SourcePlace place_of(const YAML::Node& node) {
  const YAML::Mark mark = node.Mark();
  return mark.is_null() ? SourcePlace{} : SourcePlace{mark.line + 1, mark.column + 1};
}

/// A scalar as it stands in the file; "a list" for what is none.
[[nodiscard]] inline std::string scalar_text(const YAML::Node& node) {
  return node.IsScalar() ? node.Scalar() : "a list";
}

/// How many YAML documents the text has: 0, 1, or 2 for more. Not by YAML::LoadAll, which finds
/// documents without end where one begins with a comma. Throws YAML::Exception for what is not
/// YAML.
[[nodiscard]] int documents_in(const std::string& text);

/// One mapping of a YAML file with known keys. What is wrong goes to the diagnostics and the getter
/// answers its fallback, or the least allowed value, so that reading goes on to the next mistake.
/// `what` names the mapping in messages: "server template 'dgx1'".
class YamlMap {
 public:
  YamlMap(Diagnostics& diagnostics, const YAML::Node& node, std::string what,
          const std::vector<std::string>& keys);

  [[nodiscard]] bool has(const char* key) const;
  [[nodiscard]] SourcePlace place() const { return place_of(node_); }
  [[nodiscard]] SourcePlace place(const char* key) const;
  /// The value's node; null where the key is missing.
  [[nodiscard]] YAML::Node get(const char* key) const;

  [[nodiscard]] std::uint32_t whole(const char* key, std::uint32_t min, std::uint32_t max,
                                    std::optional<std::uint32_t> fallback) const;
  [[nodiscard]] double number(const char* key, double min, double max,
                              std::optional<double> fallback) const;
  /// "yes" or "no". The earlier 0 and 1 are read, too, and told where old spellings are accepted.
  [[nodiscard]] bool yes(const char* key, bool fallback) const;
  /// A name: printable, not empty, at most Limits::name_bytes.
  [[nodiscard]] std::string name(const char* key, const std::optional<std::string>& fallback) const;
  /// The elements of a list that must not be empty; none if it is missing or no list.
  [[nodiscard]] std::vector<YAML::Node> list(const char* key, bool required) const;

 private:
  void missing(const char* key, const std::string& wanted) const;

  Diagnostics& diagnostics_;
  YAML::Node node_;
  std::string what_;
  bool usable_ = false;
};

/// The value of a key; null if there is none or `node` is no mapping.
[[nodiscard]] YAML::Node child_of(const YAML::Node& node, const std::string& key);

/// A scalar that is a name, or nothing after reporting it.
[[nodiscard]] std::optional<std::string> read_name(Diagnostics& diagnostics, const YAML::Node& node,
                                                   const std::string& what);

}  // namespace starling
