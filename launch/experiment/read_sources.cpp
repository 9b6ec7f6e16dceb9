// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/read_sources.h"

#include <algorithm>
#include <utility>

#include "launch/experiment/read_generator.h"
#include "launch/experiment/values.h"
#include "workload/generate/trace_kinds.h"
#include "workload/queue_file.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

constexpr std::uint32_t kMost = 1U << 20U;

std::string stem(const std::string& file) {
  std::filesystem::path name = std::filesystem::path(file).filename();
  while (name.has_extension()) name = name.stem();
  return name.string();
}

/// The one of `file` and `generate` that is given.
void either(const ExperimentReader& reader, const YamlMap& map, const std::string& what) {
  if (map.has("file") == map.has("generate")) {
    reader.diagnostics.add(map.place(), what + " must have exactly one of 'file' and 'generate'");
  }
}

/// Keys of the other kind of source, which would do nothing.
void useless(const ExperimentReader& reader, const YamlMap& map, bool generated,
             const std::vector<std::string>& only_generated,
             const std::vector<std::string>& only_file) {
  for (const std::string& key : generated ? only_file : only_generated) {
    if (!map.has(key.c_str())) continue;
    reader.diagnostics.add(map.place(key.c_str()), "'" + key + "' does nothing beside '" +
                                                       (generated ? "generate" : "file") +
                                                       "'; leave it out");
  }
}

/// `from`: a length of time from the trace's first job or, with `origin`, a date.
Duration window_start(const ExperimentReader& reader, const YamlMap& map) {
  if (!map.has("from")) return Duration{0};
  if (!map.has("origin")) return reader.length(map, "from");
  const auto origin = read_date(map.name("origin", ""));
  const auto from = read_date(map.name("from", ""));
  if (!origin) reader.diagnostics.add(map.place("origin"), "origin is " + origin.error().message);
  if (!from) reader.diagnostics.add(map.place("from"), "from is " + from.error().message);
  if (!origin || !from) return Duration{0};
  if (from.value() < origin.value()) {
    reader.diagnostics.add(map.place("from"), "from lies before origin, the trace's first job");
    return Duration{0};
  }
  return from.value() - origin.value();
}

}  // namespace

std::string ExperimentReader::file(const YamlMap& map, const char* key) const {
  std::string written = map.name(key, "");
  const auto expanded = expand_variables(written, variables);
  if (!expanded) {
    diagnostics.add(map.place(key), std::string(key) + ": " + expanded.error().message);
    return written;
  }
  const std::filesystem::path path = expanded.value();
  return (path.is_absolute() ? path : folder / path).lexically_normal().string();
}

std::optional<QueueTree> ExperimentReader::queues(const YamlMap& map) const {
  if (!map.has("queues")) return std::nullopt;
  if (map.name("queues", "").empty()) return std::nullopt;  // that is told already
  auto tree = read_queue_file(file(map, "queues"));
  if (!tree) {
    diagnostics.add(map.place("queues"), "queues: " + tree.error().message);
    return std::nullopt;
  }
  tree.value().version = 1;
  return std::move(tree).value();
}

Duration ExperimentReader::length(const YamlMap& map, const char* key) const {
  if (!map.has(key)) return Duration{0};
  const auto length = read_length(map.name(key, ""));
  if (length) return length.value();
  diagnostics.add(map.place(key), std::string(key) + " is " + length.error().message);
  return Duration{0};
}

void ExperimentReader::put_variables(YAML::Node node, const char* key) const {
  YAML::Node value = node[key];
  if (!value.IsDefined() || !value.IsScalar()) return;
  const auto expanded = expand_variables(value.Scalar(), variables);
  if (expanded) {
    value = expanded.value();
  } else {
    diagnostics.add(place_of(value), std::string(key) + ": " + expanded.error().message);
    node.remove(key);
  }
}

TopologySource read_topology_source(const ExperimentReader& reader, const YAML::Node& entry) {
  YAML::Node node = entry;
  if (entry.IsScalar()) {
    YAML::Node map(YAML::NodeType::Map);
    map["file"] = entry;
    node = map;
  }
  const std::vector<std::string> sizes = generator_keys();
  std::vector<std::string> keys = {"name", "file", "generate", "gang_max"};
  keys.insert(keys.end(), sizes.begin(), sizes.end());
  const YamlMap map(reader.diagnostics, node, "a topology", keys);
  TopologySource source;
  if (!node.IsMap()) return source;
  either(reader, map, "a topology");
  useless(reader, map, map.has("generate"), sizes, {});
  source.gang_max = map.whole("gang_max", 1, kMost, 0U);
  if (map.has("file")) {
    source.file = reader.file(map, "file");
    source.name = map.name("name", stem(source.file));
    return source;
  }
  source.generator = map.name("generate", "");
  source.options = read_generator(reader.diagnostics, map, source.generator);
  source.name = map.name("name", source.generator);
  return source;
}

WorkloadSource read_workload_source(const ExperimentReader& reader, const YAML::Node& entry) {
  YAML::Node node = entry;
  if (entry.IsScalar()) {
    YAML::Node map(YAML::NodeType::Map);
    map["file"] = entry;
    node = map;
  }
  const YamlMap map(
      reader.diagnostics, node, "a workload",
      {"name", "file", "generate", "format", "origin", "from", "length", "jobs", "mean_duration",
       "gang_max", "duration_min", "duration_max", "elastic", "models"});
  WorkloadSource source;
  if (!node.IsMap()) return source;
  either(reader, map, "a workload");
  const bool generated = map.has("generate");
  useless(reader, map, generated, {"mean_duration"}, {"format", "origin", "from", "length"});
  source.jobs = map.whole("jobs", 1, 10'000'000, 0U);
  source.gang_max = map.whole("gang_max", 1, kMost, 0U);
  reader.put_variables(node, "elastic");
  source.elastic = map.number("elastic", 0, 64, 0.0);
  if (source.elastic > 0 && source.elastic < 1)
    reader.diagnostics.add(map.place("elastic"),
                           "elastic is below 1; write how many times the GPUs that it asks for a "
                           "job may have, from 1, or 0: as the jobs say");
  source.duration_min = reader.length(map, "duration_min");
  source.duration_max = reader.length(map, "duration_max");
  const std::string models = map.name("models", "as-given");
  source.draw_models = models == "draw";
  if (models != "draw" && models != "as-given") {
    reader.diagnostics.add(map.place("models"), "models is '" + models +
                                                    "'; write draw (each job's model is drawn by "
                                                    "the run's seed) or as-given");
  }
  if (generated) {
    source.generator = map.name("generate", "");
    if (const std::string_view name = renamed_kind(source.generator); !name.empty())
      source.old_name = std::exchange(source.generator, name);
    const std::vector<std::string> kinds = {"philly-like", "helios-like", "gavel-continuous",
                                            "dl2-like"};
    if (std::find(kinds.begin(), kinds.end(), source.generator) == kinds.end()) {
      reader.diagnostics.add(map.place("generate"), "no generator '" + source.generator + "'" +
                                                        suggestion(source.generator, kinds));
    }
    source.mean_duration_s = seconds(reader.length(map, "mean_duration"));
    source.name = map.name("name", source.generator);
    return source;
  }
  source.file = reader.file(map, "file");
  source.format = map.name("format", "");
  const std::vector<std::string> formats = trace_formats();
  if (map.has("format") &&
      std::find(formats.begin(), formats.end(), source.format) == formats.end()) {
    reader.diagnostics.add(map.place("format"), "no trace format '" + source.format + "'" +
                                                    suggestion(source.format, formats));
  }
  source.from = window_start(reader, map);
  source.length = reader.length(map, "length");
  source.name = map.name("name", stem(source.file));
  return source;
}

}  // namespace starling
