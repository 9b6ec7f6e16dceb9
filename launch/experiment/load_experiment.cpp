// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/load_experiment.h"

#include <algorithm>
#include <set>

#include "interference/models/speed_file.h"
#include "interference/pairs/measured_contention.h"
#include "launch/experiment/bounds.h"
#include "launch/experiment/read_network.h"
#include "launch/experiment/read_sources.h"
#include "launch/experiment/set_variables.h"
#include "launch/experiment/values.h"
#include "workload/text/csv.h"
#include "workload/text/text_file.h"
#include "workload/yaml_documents.h"

namespace starling {
namespace {

/// `durations`: exact, none, noisy:S, or the mapping {noisy: S}.
DurationKnowledge read_durations(Diagnostics& diagnostics, const YAML::Node& node,
                                 DurationKnowledge fallback) {
  if (!node.IsDefined()) return fallback;
  std::string text = scalar_text(node);
  if (node.IsMap() && node.size() == 1 && node.begin()->first.IsScalar()) {
    text = node.begin()->first.Scalar() + ":" + scalar_text(node.begin()->second);
  }
  const auto knowledge = read_knowledge(text);
  if (knowledge) return knowledge.value();
  diagnostics.add(place_of(node), "durations: " + knowledge.error().message);
  return fallback;
}

/// `name` and the mapping `parameters` as NAME:key=value,...
std::string with_parameters(Diagnostics& diagnostics, const YamlMap& map, std::string name) {
  if (!map.has("parameters") || name.empty()) return name;
  const YAML::Node parameters = map.get("parameters");
  if (!parameters.IsMap()) {
    diagnostics.add(place_of(parameters),
                    "parameters must be a mapping, as {queue: skip, fit: node}; "
                    "'starling policies' lists those of each policy");
    return name;
  }
  for (const auto& entry : parameters) {
    if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
      diagnostics.add(place_of(entry.first), "a parameter of a policy is one name and one value");
      continue;
    }
    name += (name.find(':') == std::string::npos ? ":" : ",") + entry.first.Scalar() + "=" +
            entry.second.Scalar();
  }
  return name;
}

PolicyChoice read_policy(Diagnostics& diagnostics, const YAML::Node& node,
                         const PolicyRegistry& policies, const DurationKnowledge& durations) {
  PolicyChoice choice;
  choice.durations = durations;
  YAML::Node text = node;
  if (node.IsScalar()) {
    choice.text = choice.label = node.Scalar();
  } else {
    const YamlMap map(diagnostics, node, "a policy",
                      {"policy", "parameters", "label", "durations"});
    if (!node.IsMap()) return choice;
    choice.text = with_parameters(diagnostics, map, map.name("policy", std::nullopt));
    choice.label = map.name("label", choice.text);
    choice.durations = read_durations(diagnostics, map.get("durations"), durations);
    if (map.has("policy")) text = map.get("policy");
  }
  const auto made = policies.make(choice.text);
  if (made) {
    const PolicyFacts& facts = made.value()->facts();
    choice.family = facts.family;
    choice.may = powers_of(facts);
    choice.lengths = facts.lengths;
  } else if (!choice.text.empty()) {
    diagnostics.add(place_of(text), made.error().message);
  }
  return choice;
}

/// A number n (1 to n) or a list of whole numbers, without repeats.
template <class T>
std::vector<T> read_whole_list(Diagnostics& diagnostics, const YamlMap& map, const char* key,
                               std::int64_t least, std::int64_t most, bool count) {
  if (!map.has(key)) return {T{1}};
  const YAML::Node node = map.get(key);
  std::vector<T> out;
  std::vector<YAML::Node> entries{node};
  if (node.IsSequence()) entries = {node.begin(), node.end()};
  for (const YAML::Node& entry : entries) {
    std::int64_t value = 0;
    const bool good = entry.IsScalar() && parse_number(entry.Scalar(), value) && value >= least &&
                      value <= most &&
                      std::find(out.begin(), out.end(), static_cast<T>(value)) == out.end();
    if (!good) {
      diagnostics.add(place_of(entry), std::string(key) + " has '" +
                                           scalar_text(entry).substr(0, 60) +
                                           "'; write whole numbers from " + std::to_string(least) +
                                           " to " + std::to_string(most) + ", each once");
      continue;
    }
    out.push_back(static_cast<T>(value));
  }
  if (count && !node.IsSequence() && out.size() == 1) {
    const T n = out.front();
    out.clear();
    for (T i = 1; i <= n; ++i) out.push_back(i);
  }
  if (out.empty() && node.IsSequence())
    diagnostics.add(place_of(node), std::string(key) + " is an empty list; write e.g. [1, 2, 3]");
  return out;
}

std::vector<double> read_loads(Diagnostics& diagnostics, const YamlMap& map) {
  if (!map.has("loads")) return {0.0};
  std::vector<double> out;
  for (const YAML::Node& entry : map.list("loads", true)) {
    double value = 0;
    const bool as_is = entry.IsScalar() && entry.Scalar() == "as-is";
    if ((!as_is && (!entry.IsScalar() || !parse_number(entry.Scalar(), value) || value <= 0 ||
                    value > 100)) ||
        std::find(out.begin(), out.end(), value) != out.end()) {
      diagnostics.add(place_of(entry),
                      "loads has '" + scalar_text(entry).substr(0, 60) +
                          "'; write offered loads above 0, as 0.9, or as-is, each once");
      continue;
    }
    out.push_back(value);
  }
  return out;
}

template <class Source, class Read>
void read_items(Diagnostics& diagnostics, const YamlMap& map, const char* key, const Read& read,
                std::vector<Source>& out) {
  std::set<std::string> names;
  for (const YAML::Node& node : map.list(key, true)) {
    out.push_back(read(node));
    const std::string& name = out.back().name;
    if (!name.empty() && !names.insert(name).second) {
      diagnostics.add(place_of(node), "two " + std::string(key) + " are called '" + name +
                                          "'; give each a name: of its own");
    }
  }
}

/// Is the entry no policy but an option, as order=forecast in [lif:threshold=0.3, order=forecast]?
bool is_option(const YAML::Node& entry) {
  return entry.IsScalar() && entry.Scalar().find('=') < entry.Scalar().find(':');
}

/// The entries but the options among them, which are reported with the policy before as what they
/// were before YAML split them.
std::vector<YAML::Node> without_stray_options(Diagnostics& diagnostics,
                                              const std::vector<YAML::Node>& entries) {
  std::vector<YAML::Node> policies;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    policies.push_back(entries[i]);
    if (!entries[i].IsScalar() || is_option(entries[i])) continue;
    std::string meant = entries[i].Scalar();
    const char* mark = meant.find(':') == std::string::npos ? ":" : ",";
    const std::size_t first = i + 1;
    for (; i + 1 < entries.size() && is_option(entries[i + 1]); ++i) {
      meant += mark + entries[i + 1].Scalar();
      mark = ",";
    }
    if (i + 1 == first) continue;
    diagnostics.add(place_of(entries[first]), "no policy '" +
                                                  entries[first].Scalar().substr(0, 60) +
                                                  "'; commas separate list entries; quote it: \"" +
                                                  meant.substr(0, 240) + "\"");
  }
  return policies;
}

/// To be called when `experiment` has its numbers of agents.
void read_policies(Diagnostics& diagnostics, const YamlMap& map, const PolicyRegistry& policies,
                   const DurationKnowledge& durations, Experiment& experiment) {
  std::vector<std::string> labels;
  const std::uint32_t most_agents =
      experiment.agents.empty()
          ? 1
          : *std::max_element(experiment.agents.begin(), experiment.agents.end());
  for (const YAML::Node& node : without_stray_options(diagnostics, map.list("policies", true))) {
    PolicyChoice choice = read_policy(diagnostics, node, policies, durations);
    if (choice.lengths == LengthSource::truth && most_agents > 1) {
      diagnostics.add(place_of(node), choice.label + " is an upper bound for one agent, not for " +
                                          std::to_string(most_agents) +
                                          "; give it an experiment with agents: 1");
    }
    if (std::find(labels.begin(), labels.end(), choice.label) != labels.end()) {
      diagnostics.add(place_of(node), "two policies are called '" + choice.label +
                                          "'; give each a label: of its own");
    }
    labels.push_back(choice.label);
    experiment.policies.push_back(std::move(choice));
  }
  experiment.baseline = map.name("baseline", labels.empty() ? "" : labels.front());
  if (map.has("baseline") &&
      std::find(labels.begin(), labels.end(), experiment.baseline) == labels.end()) {
    diagnostics.add(map.place("baseline"), "baseline is '" + experiment.baseline +
                                               "', which is no label of a policy" +
                                               suggestion(experiment.baseline, labels));
  }
}

/// Which split is run: `wanted`, else the file's `split`, else evaluation where there are splits.
void choose_split(Diagnostics& diagnostics, const YamlMap& map, const std::string& wanted,
                  Experiment& experiment) {
  const std::vector<std::string> names = {"training", "validation", "evaluation"};
  const bool splits = map.has("splits");
  experiment.split = !wanted.empty() ? wanted : map.name("split", splits ? "evaluation" : "");
  if (experiment.split.empty()) return;
  const SourcePlace place = map.place(wanted.empty() && map.has("split") ? "split" : "splits");
  if (std::find(names.begin(), names.end(), experiment.split) == names.end()) {
    diagnostics.add(place,
                    "no split '" + experiment.split + "'" + suggestion(experiment.split, names));
    return;
  }
  if (!splits) {
    diagnostics.add(place, "split " + experiment.split +
                               " is wanted, but the file has no splits: to say what is in it");
    return;
  }
  const auto in = [&](const auto& source) { return source.split == experiment.split; };
  if (std::none_of(experiment.topologies.begin(), experiment.topologies.end(), in) ||
      std::none_of(experiment.workloads.begin(), experiment.workloads.end(), in)) {
    diagnostics.add(place, "split " + experiment.split +
                               " lacks a topology or a workload; name at least one of each");
  }
}

/// Adds to a mapping what it does not say itself.
YAML::Node with_defaults(YAML::Node node, const YAML::Node& defaults) {
  if (!node.IsMap() || !defaults.IsDefined() || !defaults.IsMap()) return node;
  for (const auto& entry : defaults) {
    const std::string key = scalar_text(entry.first);
    if (const YAML::Node& known = node; !known[key].IsDefined()) node[key] = entry.second;
  }
  return node;
}

/// The value of a key, variables replaced.
std::string value_of(Diagnostics& diagnostics, const YamlMap& map, const char* key,
                     const std::string& otherwise, const Variables& variables) {
  auto value = expand_variables(map.name(key, otherwise), variables);
  if (value) return std::move(value).value();
  diagnostics.add(map.place(key), std::string(key) + ": " + value.error().message);
  return otherwise;
}

/// What tables are about, and what they say.
void read_tables(Diagnostics& diagnostics, const YamlMap& map, Experiment& experiment) {
  const std::string compare = map.name("compare", "families");
  experiment.together = compare == "together";
  if (!experiment.together && compare != "families")
    diagnostics.add(map.place("compare"),
                    "compare is '" + compare.substr(0, 60) +
                        "'; write families (a table for each) or together (one for all)");
  const std::string bound = map.name("bound", "no");
  experiment.bound = bound == "yes" || bound == "true";
  if (!experiment.bound && bound != "no" && bound != "false")
    diagnostics.add(map.place("bound"), "bound is '" + bound.substr(0, 60) +
                                            "'; write yes (tables say below which mean JCT "
                                            "no policy can come) or no");
  const std::string refused = experiment.bound ? refuses_bound(experiment) : std::string();
  if (!refused.empty()) diagnostics.add(map.place("bound"), refused);
}

void read_jobs(Diagnostics& diagnostics, const YamlMap& map, Experiment& experiment) {
  const std::string jobs = map.name("jobs", "yes");
  experiment.jobs_csv = jobs == "yes" || jobs == "true";
  if (!experiment.jobs_csv && jobs != "no" && jobs != "false")
    diagnostics.add(map.place("jobs"),
                    "jobs is '" + jobs + "'; write yes (every job of every run in jobs.csv) or no");
}

Experiment read_root(Diagnostics& diagnostics, const YAML::Node& root,
                     const std::filesystem::path& file, const PolicyRegistry& policies,
                     const Variables& variables, const std::string& split) {
  const YamlMap map(
      diagnostics, root, "an experiment",
      {"name",    "description", "topologies", "workload_defaults", "workloads", "splits",
       "split",   "loads",       "policies",   "baseline",          "agents",    "seeds",
       "physics", "speed",       "durations",  "network",           "faults",    "jobs",
       "compare", "bound",       "queues"});
  Experiment experiment;
  if (!root.IsMap()) return experiment;
  const std::filesystem::path folder = file.parent_path();
  const ExperimentReader reader{diagnostics, folder, variables};
  experiment.name = map.name("name", file.stem().string());
  if (experiment.name.find('/') != std::string::npos)
    diagnostics.add(map.place("name"), "name has a '/'; the results' folder is called so");
  experiment.description = map.has("description") ? scalar_text(map.get("description")) : "";
  read_items(
      diagnostics, map, "topologies",
      [&](const YAML::Node& node) { return read_topology_source(reader, node); },
      experiment.topologies);
  if (map.has("workload_defaults") && !map.get("workload_defaults").IsMap()) {
    diagnostics.add(map.place("workload_defaults"),
                    "workload_defaults must be a mapping of a workload's keys");
  }
  read_items(
      diagnostics, map, "workloads",
      [&](const YAML::Node& node) {
        return read_workload_source(reader, with_defaults(node, map.get("workload_defaults")));
      },
      experiment.workloads);
  assign_splits(diagnostics, map.get("splits"), experiment);
  choose_split(diagnostics, map, split, experiment);
  experiment.loads = read_loads(diagnostics, map);
  if (const auto physics =
          parse_physics(value_of(diagnostics, map, "physics", "trace", variables))) {
    experiment.physics = physics.value().kind;
    experiment.straggler_sigma = physics.value().straggler_sigma;
    experiment.pairs = physics.value().pairs;
    experiment.goodput = physics.value().goodput;
    experiment.links = physics.value().network;
    if (!experiment.pairs.empty()) {
      auto pairs = read_measured_contention(experiment.pairs);
      if (pairs) {
        experiment.contention = std::move(pairs).value();
      } else {
        diagnostics.add(map.place("physics"), "physics: " + pairs.error().message);
      }
    }
  } else {
    diagnostics.add(map.place("physics"), "physics: " + physics.error().message);
  }
  if (const auto speed = parse_speed(value_of(diagnostics, map, "speed", "analytic", variables))) {
    experiment.speed = speed.value();
    if (!speed.value().file.empty()) {
      if (const Status good = check_speed_file(speed.value()); !good.ok())
        diagnostics.add(map.place("speed"), "speed: " + good.error().message);
    }
  } else {
    diagnostics.add(map.place("speed"), "speed: " + speed.error().message);
  }
  experiment.faults =
      read_faults(diagnostics, map, read_network(diagnostics, map, experiment.physics));
  experiment.queues = reader.queues(map);
  reader.put_variables(root, "agents");
  experiment.agents = read_whole_list<std::uint32_t>(diagnostics, map, "agents", 1, 4096, false);
  read_policies(diagnostics, map, policies,
                read_durations(diagnostics, map.get("durations"), DurationKnowledge{}), experiment);
  experiment.seeds = read_whole_list<std::uint64_t>(diagnostics, map, "seeds", 1, 1'000'000, true);
  read_tables(diagnostics, map, experiment);
  read_jobs(diagnostics, map, experiment);
  return experiment;
}

}  // namespace

Result<Experiment> parse_experiment(const std::string& text, const std::filesystem::path& file,
                                    const PolicyRegistry& policies, const Variables& variables,
                                    const std::string& split) {
  Diagnostics diagnostics(file.string());
  try {
    if (const auto second = second_document(text)) {
      diagnostics.add({second->line + 1, second->column + 1},
                      "a second document starts; an experiment is one mapping");
      return diagnostics.error();
    }
    Experiment experiment =
        read_root(diagnostics, YAML::Load(text), file, policies, variables, split);
    if (diagnostics.any()) return diagnostics.error();
    return experiment;
  } catch (const YAML::Exception& error) {
    const bool known = !error.mark.is_null();
    diagnostics.add(known ? SourcePlace{error.mark.line + 1, error.mark.column + 1} : SourcePlace{},
                    "this is not YAML: " + error.msg);
    return diagnostics.error();
  }
}

Result<Experiment> load_experiment(const std::filesystem::path& file,
                                   const PolicyRegistry& policies, const Variables& variables,
                                   const std::string& split) {
  const Result<std::string> text = read_text_file(file, kExperimentBytes);
  if (!text) {
    return {text.error().code, text.error().message +
                                   "; give an experiment in YAML, see docs/experiments.md and "
                                   "examples/experiments/"};
  }
  return parse_experiment(text.value(), file, policies, variables, split);
}

}  // namespace starling
