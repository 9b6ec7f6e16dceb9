// SPDX-License-Identifier: Apache-2.0
#include "launch/train/policy_config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <type_traits>

#include "gnn/wiring/registry.h"
#include "launch/experiment/grid.h"
#include "launch/experiment/prepare.h"
#include "topology/reading/yaml_reader.h"
#include "workload/text/csv.h"

namespace starling {
namespace {

void read_fit(const YamlMap& map, FitPolicyOptions& fit) {
  fit.epochs = map.whole("epochs", 1, 1000, fit.epochs);
  fit.rate = map.number("rate", 1e-6, 1, fit.rate);
  fit.entropy = map.number("entropy", 0, 10, fit.entropy);
  fit.kl_weight = map.number("kl_weight", 0, 100, fit.kl_weight);
  fit.scale_h = map.number("scale_h", 1e-3, 1e6, fit.scale_h);
  fit.cut = map.number("cut", 1e-3, 1e6, fit.cut);
}

/// The first scalar at or below `node` that has `text`; `depth`: below which none is looked at,
/// because an alias may lead back to what it is in.
YAML::Node scalar_with(const YAML::Node& node, const std::string& text, int depth = 16) {
  if (node.IsScalar() && node.Scalar().find(text) != std::string::npos) return node;
  if (depth == 0 || (!node.IsSequence() && !node.IsMap())) return {};
  for (const auto& entry : node) {
    const YAML::Node& below = node.IsMap() ? entry.second : entry;
    if (YAML::Node found = scalar_with(below, text, depth - 1); found.IsScalar()) return found;
  }
  return {};
}

class Reader {
 public:
  Reader(const std::filesystem::path& file, const std::vector<TrainableSystem>& systems)
      : file_(file), systems_(systems), diagnostics_(file.string()) {
    diagnostics_.accept_old_spellings(notes_, {{"yardstick", "baseline"},
                                               {"copies", "group_size"},
                                               {"lanes", "shards"},
                                               {"stay", "kl_weight"}});
  }

  Result<PolicyConfig> read(const std::string& text) {
    YAML::Node root;
    try {
      root = YAML::Load(text);
    } catch (const YAML::Exception& error) {
      diagnostics_.add({error.mark.line + 1, error.mark.column + 1}, error.msg);
      return diagnostics_.error();
    }
    PolicyConfig config;
    const YamlMap map(diagnostics_, root, "the configuration",
                      {"train", "suite", "loads", "seeds", "agents", "validation_runs", "net",
                       "stages", "seed", "start", "baseline", "interference", "forward"});
    config.name = map.name("train", config.name);
    config.train.system = system_of(map, config.name);
    config.suite = file_.parent_path() / map.name("suite", std::nullopt);
    config.train.seed = map.whole("seed", 0, ~0U, 1);
    config.train.baseline = map.name("baseline", config.train.baseline);
    if (map.has("start")) {
      auto start = load_weights(file_.parent_path() / map.name("start", std::nullopt));
      if (start) {
        config.train.start = std::move(start).value();
      } else {
        diagnostics_.add(map.place("start"), start.error().message);
      }
    }
    if (map.has("forward")) forward(map, config.train);
    config.mask.interference = !map.yes("interference", true);
    config.validation_runs = map.whole("validation_runs", 0, 100'000, 0);
    numbers(map, "loads", std::numeric_limits<double>::min(), 100.0,
            "offered loads above 0, as 0.9", config.loads);
    numbers(map, "seeds", 1, 1'000'000, "whole numbers from 1 to 1000000", config.seeds);
    if (map.has("agents")) {
      config.agents.clear();
      numbers(map, "agents", 1, 4096, "whole numbers from 1 to 4096", config.agents);
    }
    config.train.net = net_options(map, config.train.system.training);
    // What is wrong so far may be why a tensor is not there.
    if (!diagnostics_.any()) {
      const NetTraining& training = config.train.system.training;
      begin_ = config.train.start ? *config.train.start : training.fresh(config.train.net, 1);
    }
    for (const YAML::Node& node : map.list("stages", true)) stage(node, config.train);
    if (diagnostics_.any()) return diagnostics_.error();
    config.notes = notes_;
    return config;
  }

 private:
  template <class T>
  using Parsed = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;

  template <class T>
  void numbers(const YamlMap& map, const char* key, Parsed<T> least, Parsed<T> most,
               const std::string& wanted, std::vector<T>& out) {
    for (const YAML::Node& node : map.list(key, false)) {
      Parsed<T> value{};
      if (node.IsScalar() && parse_number(node.Scalar(), value) && value >= least &&
          value <= most) {
        out.push_back(static_cast<T>(value));
        continue;
      }
      const std::string text = node.IsScalar() ? node.Scalar() : "a list";
      diagnostics_.add(place_of(node),
                       std::string(key) + " has '" + text.substr(0, 60) + "'; write " + wanted);
    }
  }
  /// The learned system of that name; after a mistake, any.
  TrainableSystem system_of(const YamlMap& map, const std::string& name) {
    std::vector<std::string> names;
    for (const TrainableSystem& system : systems_) {
      if (system.name() == name) return system;
      names.push_back(system.name());
    }
    if (!name.empty()) {
      diagnostics_.add(map.place("train"),
                       "train policy trains no '" + name + "'" + suggestion(name, names));
    }
    return systems_.front();
  }
  /// The form of a new net: what `net` says, the rest by default.
  NetOptions net_options(const YamlMap& map, const NetTraining& training) {
    NetOptions out;
    std::vector<std::string> keys;
    for (const NetOption& option : training.options) {
      out[option.name] = option.otherwise;
      keys.push_back(option.name);
    }
    if (!map.has("net")) return out;
    const YamlMap net(diagnostics_, map.get("net"), "net", keys);
    for (const NetOption& option : training.options) {
      const char* const key = option.name.c_str();
      std::vector<std::uint32_t>& values = out[option.name];
      if (!option.list && option.low == 0 && option.high == 1) {
        values = {net.yes(key, values.front() == 1) ? 1U : 0U};
      } else if (!option.list) {
        values = {net.whole(key, option.low, option.high, values.front())};
      } else if (net.has(key)) {
        values.clear();
        numbers(net, key, option.low, option.high,
                "whole numbers from " + std::to_string(option.low) + " to " +
                    std::to_string(option.high),
                values);
      }
    }
    return out;
  }
  /// What the weights to start from say of going to other agents.
  void forward(const YamlMap& map, TrainPolicyOptions& train) {
    std::vector<float> values;
    numbers(map, "forward", -1e6, 1e6, "numbers from -1000000 to 1000000", values);
    const auto& parts = train.system.training.parts;
    const auto part = std::ranges::find_if(parts, &TensorPart::of_others);
    if (part == parts.end()) {
      diagnostics_.add(map.place("forward"), train.system.name() +
                                                 " has no weights for going to another agent; "
                                                 "leave forward out");
    } else if (values.size() != part->size) {
      diagnostics_.add(map.place("forward"),
                       "forward takes " + std::to_string(part->size) +
                           " numbers, the features of going to another agent in their order");
    } else if (!train.start || !train.start->tensors.contains(part->tensor) ||
               train.start->tensors.at(part->tensor).values.size() < part->first + part->size) {
      diagnostics_.add(map.place("forward"), "forward needs a policy's weights in start");
    } else {
      std::ranges::copy(values, train.start->tensors.at(part->tensor).values.begin() +
                                    static_cast<std::ptrdiff_t>(part->first));
    }
  }
  /// `threshold: T` is short for the rule that is imitated most.
  void teacher(const YamlMap& map, ImitateOptions& out) {
    if (map.has("threshold") && map.has("teacher")) {
      diagnostics_.add(map.place("threshold"),
                       "threshold is of teacher lif; write teacher: lif:threshold=T");
    } else if (map.has("threshold")) {
      (void)map.number("threshold", 0, 1, 0);
      out.teacher = "lif:threshold=" + map.get("threshold").Scalar();
    } else if (map.has("teacher")) {
      out.teacher = map.name("teacher", out.teacher);
      if (const Status known = check_teacher(out.teacher); !known)
        diagnostics_.add(map.place("teacher"), known.error().message);
    }
  }
  /// The options of a stage of that name, in its present or an earlier spelling; else null.
  YAML::Node stage_of(const YAML::Node& node, const std::string& name) {
    if (!node.IsMap()) return YAML::Node();
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (diagnostics_.present_spelling(key) != name) continue;
      if (key != name)
        diagnostics_.note(place_of(entry.first), "'" + key + "' is written " + name + " now");
      return entry.second;
    }
    return YAML::Node();
  }
  void stage(const YAML::Node& node, TrainPolicyOptions& train) {
    std::vector<TrainStage>& out = train.stages;
    if (const YAML::Node imitate = stage_of(node, "imitate"); imitate.IsMap()) {
      const YamlMap map(diagnostics_, imitate, "stage imitate",
                        {"runs", "teacher", "threshold", "keep", "follow", "epochs", "rate",
                         "entropy", "kl_weight", "scale_h", "cut"});
      ImitateStage stage;
      stage.runs = map.whole("runs", 1, 10'000, stage.runs);
      teacher(map, stage.collect);
      stage.collect.keep = map.number("keep", 1e-4, 1, stage.collect.keep);
      stage.collect.follow = map.number("follow", 0, 1, stage.collect.follow);
      read_fit(map, stage.fit);
      out.emplace_back(std::move(stage));
    } else if (const YAML::Node expert = stage_of(node, "expert"); expert.IsMap()) {
      const YamlMap map(
          diagnostics_, expert, "stage expert",
          {"rounds", "runs", "policy", "sample", "options", "arrivals", "explore", "horizon_h",
           "limit", "epochs", "rate", "entropy", "kl_weight", "scale_h", "cut"});
      ExpertStage stage;
      stage.rounds = map.whole("rounds", 1, 100, stage.rounds);
      stage.runs = map.whole("runs", 1, 10'000, stage.runs);
      stage.policy = map.name("policy", stage.policy);
      stage.collect.sample = map.number("sample", 1e-5, 1, stage.collect.sample);
      stage.collect.options = map.whole("options", 2, 64, stage.collect.options);
      stage.collect.arrivals = map.whole("arrivals", 0, 100'000, stage.collect.arrivals);
      stage.collect.horizon_h = map.number("horizon_h", 0, 1e6, 0);
      stage.collect.explore = map.number("explore", 0, 1, stage.collect.explore);
      stage.collect.limit = map.whole("limit", 1, 1'000'000, stage.collect.limit);
      read_fit(map, stage.fit);
      out.emplace_back(std::move(stage));
    } else if (const YAML::Node evolve = stage_of(node, "evolve"); evolve.IsMap()) {
      const YamlMap map(
          diagnostics_, evolve, "stage evolve",
          {"tensors", "generations", "pairs", "runs", "sigma", "rate", "cut", "average"});
      EvolveStage stage;
      EvolveOptions& o = stage.options;
      if (map.has("tensors")) {
        o.tensors.clear();
        for (const YAML::Node& tensor : map.list("tensors", true)) {
          const auto name = read_name(diagnostics_, tensor, "a tensor");
          if (!name) continue;
          o.tensors.push_back(*name);
          if (!begin_) continue;
          if (const Status known = check_tensor(train.system.training, *begin_, *name); !known.ok())
            diagnostics_.add(place_of(tensor), known.error().message);
        }
      }
      o.generations = map.whole("generations", 1, 100'000, o.generations);
      o.pairs = map.whole("pairs", 1, 10'000, o.pairs);
      o.runs = map.whole("runs", 1, 10'000, o.runs);
      o.cut = map.number("cut", 1e-3, 100, o.cut);
      o.sigma = map.number("sigma", 1e-6, 100, o.sigma);
      o.rate = map.number("rate", 1e-6, 100, o.rate);
      o.average = map.number("average", 0, 1, o.average);
      out.emplace_back(std::move(stage));
    } else if (const YAML::Node critic = stage_of(node, "actor_critic"); critic.IsMap()) {
      out.emplace_back(actor_critic(critic));
    } else {
      diagnostics_.add(place_of(node),
                       "a stage is imitate, expert, evolve or actor_critic, with its options");
    }
  }

  ActorCriticStage actor_critic(const YAML::Node& node) {
    const YamlMap map(
        diagnostics_, node, "stage actor_critic",
        {"iterations",   "runs",    "group_size",  "shards",     "epochs", "batch",       "explore",
         "temperature",  "limit",   "horizon_h",   "lambda",     "rate",   "critic_rate", "clip",
         "gradient_cut", "entropy", "entropy_end", "divergence", "easy",   "ramp"});
    ActorCriticStage stage;
    ActorCriticOptions& o = stage.options;
    o.iterations = map.whole("iterations", 1, 100'000, o.iterations);
    o.runs = map.whole("runs", 1, 10'000, o.runs);
    o.group_size = map.whole("group_size", 1, 1'000, o.group_size);
    o.shards = map.whole("shards", 1, 1'024, o.shards);
    o.epochs = map.whole("epochs", 1, 1'000, o.epochs);
    o.batch = map.whole("batch", 1, 1'000'000, o.batch);
    o.episode.explore = map.number("explore", 1e-4, 1, o.episode.explore);
    o.episode.temperature = map.number("temperature", 1e-3, 1e3, o.episode.temperature);
    o.episode.limit = map.whole("limit", 1, 1'000'000, o.episode.limit);
    o.horizon_h = map.number("horizon_h", 1e-3, 1e6, o.horizon_h);
    o.lambda = map.number("lambda", 0, 1, o.lambda);
    o.rate = map.number("rate", 1e-8, 1, o.rate);
    o.critic_rate = map.number("critic_rate", 1e-8, 1, o.critic_rate);
    o.clip = map.number("clip", 1e-3, 10, o.clip);
    o.gradient_cut = map.number("gradient_cut", 1e-6, 1e6, o.gradient_cut);
    o.entropy = map.number("entropy", 0, 10, o.entropy);
    o.entropy_end = map.number("entropy_end", 0, 10, o.entropy_end);
    o.divergence = map.number("divergence", 1e-6, 100, o.divergence);
    o.easy = map.number("easy", 0, 1, o.easy);
    o.ramp = map.number("ramp", 0, 1, o.ramp);
    return stage;
  }

  std::filesystem::path file_;
  const std::vector<TrainableSystem>& systems_;
  std::vector<std::string> notes_;
  Diagnostics diagnostics_;
  std::optional<Weights> begin_;  // what the first stage begins with
};

}  // namespace

Result<PolicyConfig> load_policy_config(const std::filesystem::path& file,
                                        const std::vector<TrainableSystem>& systems) {
  std::ifstream in(file);
  if (!in) return Error{Errc::io, file.string() + ": cannot be read"};
  std::string text{std::istreambuf_iterator<char>(in), {}};
  auto read = Reader(file, systems).read(text);
  if (read) read.value().text = std::move(text);
  return read;
}

std::string place_of_data(const std::filesystem::path& suite) {
  try {
    const YAML::Node found = scalar_with(YAML::LoadFile(suite.string()), "${DATA}");
    if (!found.IsScalar()) return {};
    const SourcePlace place = place_of(found);
    return suite.string() + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  } catch (const YAML::Exception&) {
    return {};  // load_experiment says better what is wrong
  }
}

Result<std::vector<Scenario>> scenarios_of(const PolicyConfig& config, const std::string& split,
                                           const Variables& variables) {
  PolicyRegistry policies = make_policy_registry();
  add_gnn_policies(policies);
  const auto loaded = load_experiment(config.suite, policies, variables, split);
  if (!loaded) return loaded.error();
  const Experiment& experiment = loaded.value();
  const auto inputs = open_inputs(experiment);
  if (!inputs) return inputs.error();
  const auto& loads = config.loads.empty() ? experiment.loads : config.loads;
  const auto& seeds = config.seeds.empty() ? experiment.seeds : config.seeds;
  std::vector<Scenario> out;
  for (std::size_t t = 0; t < experiment.topologies.size(); ++t) {
    if (experiment.topologies[t].split != split) continue;
    const Topology& topology = inputs.value().topologies[t].front();
    for (std::size_t w = 0; w < experiment.workloads.size(); ++w) {
      if (experiment.workloads[w].split != split) continue;
      for (const double load : loads) {
        for (const std::uint64_t seed : seeds) {
          auto jobs =
              prepare_jobs(inputs.value().workloads[w], experiment.workloads[w],
                           experiment.topologies[t], topology, load, seed, experiment.physics);
          if (!jobs) return jobs.error();
          for (const std::uint32_t agents : config.agents) {
            out.push_back({experiment.topologies[t].name + " " + experiment.workloads[w].name +
                               " load " + std::to_string(load),
                           topology, jobs.value(), agents, seed, experiment.speed, load,
                           config.mask});
          }
        }
      }
    }
  }
  return out;
}

}  // namespace starling
