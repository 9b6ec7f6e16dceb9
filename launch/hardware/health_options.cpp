// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/health_options.h"

#include <yaml-cpp/yaml.h>

#include <cmath>

#include "launch/system/files.h"
#include "topology/reading/yaml_reader.h"

namespace starling {
namespace {

constexpr double kDay_s = 86'400;

Duration seconds_of(double s) {
  return Duration(static_cast<Duration::rep>(std::llround(s * 1e9)));
}

bool yes_or_no(const YamlMap& map, const char* key, bool fallback, Diagnostics& diagnostics) {
  if (!map.has(key)) return fallback;
  const std::string word = scalar_text(map.get(key));
  if (word == "true" || word == "false") return word == "true";
  diagnostics.add(map.place(key),
                  std::string(key) + " '" + word + "' is wrong; write true or false");
  return fallback;
}

Missing missing_of(const YamlMap& map, Diagnostics& diagnostics) {
  if (!map.has("hardware")) return Missing::usual;
  const std::string word = scalar_text(map.get("hardware"));
  if (word == "believe") return Missing::believe;
  if (word == "mark") return Missing::mark;
  if (word == "refuse") return Missing::refuse;
  diagnostics.add(map.place("hardware"),
                  "hardware '" + word + "' is wrong; write believe, mark or refuse");
  return Missing::usual;
}

/// A text is for a shell, a list is a program and its words.
std::vector<std::string> command_of(const YamlMap& map, Diagnostics& diagnostics) {
  if (!map.has("command")) return {};
  const YAML::Node node = map.get("command");
  if (node.IsScalar() && !node.Scalar().empty()) return {"/bin/sh", "-c", node.Scalar()};
  std::vector<std::string> words;
  bool plain = node.IsSequence() && node.size() > 0;
  for (std::size_t i = 0; plain && i < node.size(); ++i) {
    plain = node[i].IsScalar();
    if (plain) words.push_back(node[i].Scalar());
  }
  if (plain) return words;
  diagnostics.add(map.place("command"),
                  "command is no command; write a line for a shell, or [PROGRAM, WORD, ...]");
  return {};
}

void read_gpus(const YAML::Node& node, HealthOptions& out, Diagnostics& diagnostics) {
  const YamlMap map(diagnostics, node, "gpus",
                    {"watch", "interval_s", "temperature_c", "xids_ignored", "idle_min"});
  out.watch_gpus = yes_or_no(map, "watch", true, diagnostics);
  out.gpu_interval = seconds_of(map.number("interval_s", 0.1, kDay_s, 5.0));
  out.idle = seconds_of(60 * map.number("idle_min", 0, 1e6, 10.0));
  if (map.has("temperature_c")) out.temperature_c = map.whole("temperature_c", 30, 150, 90);
  if (!map.has("xids_ignored")) return;
  out.xids_ignored.clear();
  const YAML::Node list = map.get("xids_ignored");
  for (const YAML::Node& each : list.IsSequence() ? list : YAML::Node(YAML::NodeType::Sequence)) {
    const std::string word = scalar_text(each);
    const bool number = !word.empty() && word.size() < 9 &&
                        word.find_first_not_of("0123456789") == std::string::npos;
    if (number) {
      out.xids_ignored.insert(std::stoul(word));
    } else {
      diagnostics.add(place_of(each), "XID '" + word + "' is wrong; write whole numbers");
    }
  }
  if (!list.IsSequence())
    diagnostics.add(map.place("xids_ignored"), "xids_ignored is no list; write [13, 31]");
}

}  // namespace

Result<HealthOptions> parse_health_options(const std::string& text, const std::string& file) {
  Diagnostics diagnostics(file);
  HealthOptions out;
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsNull()) return out;
    const YamlMap map(diagnostics, root, "the health file",
                      {"hardware", "command", "interval_s", "timeout_s", "undrain", "gpus"});
    out.missing = missing_of(map, diagnostics);
    out.command = command_of(map, diagnostics);
    out.interval = seconds_of(map.number("interval_s", 0.1, kDay_s, 60.0));
    out.timeout = seconds_of(map.number("timeout_s", 0.1, 3600, 30.0));
    out.undrain = yes_or_no(map, "undrain", true, diagnostics);
    if (map.has("gpus")) read_gpus(map.get("gpus"), out, diagnostics);
  } catch (const YAML::Exception& error) {
    const bool known = !error.mark.is_null();
    diagnostics.add(known ? SourcePlace{error.mark.line + 1, error.mark.column + 1} : SourcePlace{},
                    "this is not YAML: " + error.msg);
  }
  if (diagnostics.any()) return diagnostics.error();
  return out;
}

Result<HealthOptions> read_health_options(const std::filesystem::path& dir) {
  const std::filesystem::path file = dir / kHealthFile;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return HealthOptions();
  const auto text = read_text(file);
  if (!text) return text.error();
  return parse_health_options(text.value(), file.string());
}

}  // namespace starling
