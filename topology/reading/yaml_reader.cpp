// SPDX-License-Identifier: Apache-2.0
#include "topology/reading/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "base/limits.h"
#include "base/visible.h"

namespace starling {
namespace {

struct IgnoreEvents : YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

std::string kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map:
      return "a mapping";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Scalar:
      return "'" + node.Scalar().substr(0, 60) + "'";
    default:
      return "empty";
  }
}

std::string shown(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x, std::chars_format::fixed).ptr};
}

template <class T>
std::optional<T> parse(const YAML::Node& node) {
  if (!node.IsScalar()) return std::nullopt;
  const std::string& text = node.Scalar();
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

int documents_in(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  IgnoreEvents ignore;
  int documents = 0;
  while (documents < 2 && parser.HandleNextDocument(ignore)) ++documents;
  return documents;
}

std::optional<std::string> read_name(Diagnostics& diagnostics, const YAML::Node& node,
                                     const std::string& what) {
  const std::string wanted =
      "; write a name of 1 to " + std::to_string(Limits{}.name_bytes) + " printable characters";
  if (!node.IsScalar()) {
    diagnostics.add(place_of(node), what + " is " + kind_of(node) + wanted);
    return std::nullopt;
  }
  const std::string& text = node.Scalar();
  if (text.empty() || text.size() > Limits{}.name_bytes || !is_visible_line(text)) {
    diagnostics.add(place_of(node), what + " is empty, too long or not printable" + wanted);
    return std::nullopt;
  }
  return text;
}

YAML::Node child_of(const YAML::Node& node, const std::string& key) {
  if (!node.IsMap()) return YAML::Node();
  const YAML::Node child = node[key];
  return child.IsDefined() ? child : YAML::Node();
}

YamlMap::YamlMap(Diagnostics& diagnostics, const YAML::Node& node, std::string what,
                 const std::vector<std::string>& keys)
    : diagnostics_(diagnostics), node_(node), what_(std::move(what)), usable_(node.IsMap()) {
  if (!usable_) {
    std::string list;
    for (const std::string& key : keys) list += (list.empty() ? "" : ", ") + key;
    diagnostics.add(place_of(node),
                    what_ + " is " + kind_of(node) + "; write a mapping with " + list);
    return;
  }
  std::set<std::string> seen;
  std::vector<std::pair<std::string, YAML::Node>> renamed;
  for (const auto& entry : node) {
    std::string key = entry.first.IsScalar() ? entry.first.Scalar() : kind_of(entry.first);
    if (const std::string now = diagnostics.present_spelling(key);
        now != key && std::find(keys.begin(), keys.end(), now) != keys.end()) {
      diagnostics.note(place_of(entry.first), "'" + key + "' is written " + now + " now");
      renamed.emplace_back(now, entry.second);
      key = now;
    }
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      diagnostics.add(place_of(entry.first), "unknown key '" + key.substr(0, 60) + "' in " + what_ +
                                                 suggestion(key, keys));
    } else if (!seen.insert(key).second) {
      diagnostics.add(place_of(entry.first),
                      "'" + key + "' is given twice in " + what_ + "; keep one of them");
    }
  }
  for (const auto& [key, value] : renamed) node_[key] = value;
}

bool YamlMap::has(const char* key) const { return usable_ && get(key).IsDefined(); }

SourcePlace YamlMap::place(const char* key) const {
  return has(key) ? place_of(get(key)) : place();
}

YAML::Node YamlMap::get(const char* key) const {
  const YAML::Node& node = node_;  // const: a missing key is not inserted
  return usable_ ? node[key] : YAML::Node(YAML::NodeType::Undefined);
}

void YamlMap::missing(const char* key, const std::string& wanted) const {
  if (usable_)
    diagnostics_.add(place(), what_ + " lacks '" + key + "'; add " + key + ": " + wanted);
}

std::uint32_t YamlMap::whole(const char* key, std::uint32_t min, std::uint32_t max,
                             std::optional<std::uint32_t> fallback) const {
  const std::string wanted =
      "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
  if (!has(key)) {
    if (!fallback) missing(key, wanted);
    return fallback.value_or(min);
  }
  const YAML::Node node = get(key);
  const auto value = parse<std::uint32_t>(node);
  if (value && *value >= min && *value <= max) return *value;
  diagnostics_.add(place_of(node), std::string(key) + " is " + kind_of(node) + "; write " + wanted);
  return fallback.value_or(min);
}

double YamlMap::number(const char* key, double min, double max,
                       std::optional<double> fallback) const {
  const std::string wanted = "a number from " + shown(min) + " to " + shown(max);
  if (!has(key)) {
    if (!fallback) missing(key, wanted);
    return fallback.value_or(min);
  }
  const YAML::Node node = get(key);
  const auto value = parse<double>(node);
  if (value && std::isfinite(*value) && *value >= min && *value <= max) return *value;
  diagnostics_.add(place_of(node), std::string(key) + " is " + kind_of(node) + "; write " + wanted);
  return fallback.value_or(min);
}

bool YamlMap::yes(const char* key, bool fallback) const {
  if (!has(key)) return fallback;
  const YAML::Node node = get(key);
  bool found = fallback;
  if (const auto digit = parse<std::uint32_t>(node); digit && *digit <= 1) {
    const std::string before = std::string(key) + ": ";
    diagnostics_.note(place_of(node), "'" + before + node.Scalar() + "' is written " + before +
                                          (*digit == 1 ? "yes" : "no") + " now");
    return *digit == 1;
  }
  if (!node.IsScalar() || !YAML::convert<bool>::decode(node, found))
    diagnostics_.add(place_of(node),
                     std::string(key) + " is " + kind_of(node) + "; write yes or no");
  return found;
}

std::string YamlMap::name(const char* key, const std::optional<std::string>& fallback) const {
  if (!has(key)) {
    if (!fallback) missing(key, "a name");
    return fallback.value_or("");
  }
  return read_name(diagnostics_, get(key), std::string(key) + " of " + what_).value_or("");
}

std::vector<YAML::Node> YamlMap::list(const char* key, bool required) const {
  if (!has(key)) {
    if (required) missing(key, "a list");
    return {};
  }
  const YAML::Node node = get(key);
  if (!node.IsSequence() || node.size() == 0) {
    const std::string found = node.IsSequence() ? "an empty list" : kind_of(node);
    diagnostics_.add(place_of(node), std::string(key) + " of " + what_ + " is " + found +
                                         "; write a list with at least one entry");
    return {};
  }
  return {node.begin(), node.end()};
}

}  // namespace starling
