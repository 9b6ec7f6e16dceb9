// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/set_variables.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>

#include "workload/text/text_file.h"

namespace starling {
namespace {

/// Without what follows a '#' that begins a comment.
std::string without_comment(const std::string& line) {
  for (std::size_t at = line.find('#'); at != std::string::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  }
  return line;
}

/// LIKE_THIS_2.
bool in_capitals(const std::string& name) {
  return !name.empty() && name[0] >= 'A' && name[0] <= 'Z' && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string listed(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

std::set<std::string> variables_of(const std::string& text) {
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string whole; std::getline(lines, whole);) {
    const std::string line = without_comment(whole);
    for (std::size_t at = line.find("${"); at != std::string::npos; at = line.find("${", at + 2)) {
      const std::size_t close = line.find('}', at);
      if (close != std::string::npos) names.insert(line.substr(at + 2, close - at - 2));
    }
  }
  return names;
}

Result<Variables> split_variables(const std::string& set, const std::set<std::string>& used) {
  Variables variables;
  std::string* last = nullptr;
  for (std::size_t at = 0; at < set.size();) {
    const std::size_t end = std::min(set.find(',', at), set.size());
    const std::string piece = set.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = piece.find('=');
    const std::string name = equals == std::string::npos ? "" : piece.substr(0, equals);
    if (used.contains(name)) {
      last = &(variables[name] = piece.substr(equals + 1));
      continue;
    }
    if (last == nullptr && name.empty())
      return {Errc::invalid, "'" + piece + "' is no variable; give NAME=VALUE"};
    if (last == nullptr || in_capitals(name)) {
      return {Errc::invalid,
              used.empty() ? "the file has no variable, so none is called " + name
                           : "the file has no variable ${" + name + "}; it has: " + listed(used)};
    }
    *last += "," + piece;
  }
  return variables;
}

Result<Variables> read_variables(const std::filesystem::path& file, const std::string& set) {
  if (set.empty()) return Variables{};
  const auto text = read_text_file(file, kExperimentBytes);
  if (!text) return Variables{};
  return split_variables(set, variables_of(text.value()));
}

std::vector<std::string> policies_in(const std::filesystem::path& file) {
  std::vector<std::string> names;
  const auto text = read_text_file(file, kExperimentBytes);
  if (!text) return names;
  try {
    for (const YAML::Node& node : YAML::Load(text.value())["policies"]) {
      const YAML::Node name = node.IsMap() ? node["policy"] : node;
      if (name.IsDefined() && name.IsScalar()) names.push_back(name.as<std::string>());
    }
  } catch (const YAML::Exception&) {
    names.clear();
  }
  return names;
}

}  // namespace starling
