// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/train_policy.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/rng.h"
#include "policies/registry.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

class Training {
 public:
  Training(const std::vector<Scenario>& training, const std::vector<Scenario>& validation,
           const TrainPolicyOptions& options)
      : training_(training),
        validation_(validation),
        options_(options),
        processes_(options.processes == nullptr ? alone_ : *options.processes) {}

  Result<TrainedPolicy> run() {
    TrainedPolicy out;
    out.weights = options_.start ? *options_.start : new_weights();
    if (Status s = check_stages(out.weights); !s.ok()) return s.error();
    if (Status s = check_folder(); !s.ok()) return s.error();
    if (Status s = measure_baseline(); !s.ok()) return s.error();
    if (options_.start) {
      auto value = validate(out.weights);
      if (!value) return value.error();
      started_ = value.value();
    }
    const auto resumed = resume(out);
    if (!resumed) return resumed.error();
    const std::size_t first = resumed.value();
    const auto going_on = first > 0 || (options_.resume && fs::exists(checkpoint(0, "progress")));
    if (processes_.first()) {
      log_.open(options_.folder / "train.jsonl",
                going_on ? std::ios::app : std::ios::out | std::ios::trunc);
    }
    for (stage_ = first; stage_ < options_.stages.size(); ++stage_) {
      auto made = std::visit([&](const auto& stage) { return take(stage, out.weights); },
                             options_.stages[stage_]);
      if (!made) return made.error();
      if (Status s = save(checkpoint(stage_, "made"), made.value()); !s.ok()) return s.error();
      auto value = validate(made.value());
      if (!value) return value.error();
      const double before = out.validation.empty() ? started_ : out.validation.back();
      const bool better = value.value() < before;
      if (better) out.weights = std::move(made).value();
      out.measured.push_back(value.value());
      out.validation.push_back(better ? value.value() : before);
      write({{"name", name_of(options_.stages[stage_])},
             {"validation", value.value()},
             {"kept", better},
             {"seconds", elapsed()}});
      out.weights.notes["hash"] = options_.hash;
      out.weights.notes["validation"] = std::to_string(out.validation.back());
      if (Status s = save(checkpoint(stage_), out.weights); !s.ok()) return s.error();
      say(1, "validation " + std::to_string(value.value()) + (better ? "" : ", not kept"));
    }
    out.seconds = elapsed();
    return out;
  }

 private:
  [[nodiscard]] Weights new_weights() const {
    const TrainableSystem& system = options_.system;
    return options_.net.empty() ? system.fresh(options_.seed)
                                : system.training.fresh(options_.net, options_.seed);
  }
  [[nodiscard]] fs::path checkpoint(std::size_t stage, const std::string& what = "stage") const {
    return options_.folder / (what + "-" + std::to_string(stage) + ".weights");
  }
  Status save(const fs::path& file, const Weights& weights) const {
    return processes_.first() ? save_weights(file, weights) : done();
  }
  [[nodiscard]] Status check_stages(const Weights& start) const {
    for (const TrainStage& stage : options_.stages) {
      const auto* const evolve = std::get_if<EvolveStage>(&stage);
      if (evolve == nullptr) continue;
      for (const std::string& tensor : evolve->options.tensors)
        if (Status s = check_tensor(options_.system.training, start, tensor); !s.ok()) return s;
    }
    return done();
  }
  /// Why nothing may be written into the folder; empty: it may.
  [[nodiscard]] std::string refusal() const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(options_.folder, ignored)) {
      const std::string name = entry.path().filename().string();
      const bool weights = entry.path().extension() == ".weights";
      const bool state = weights && (name.starts_with("stage-") || name.starts_with("progress-"));
      if (!options_.resume) {
        if (!state && !(weights && name.starts_with("made-")) && name != "train.jsonl") continue;
        return options_.folder.string() +
               " holds a training already; give --resume to go on with it, or another --folder";
      }
      // What the stages made has no hash of its own.
      if (!state) continue;
      const auto saved = load_weights(entry.path());
      if (saved && saved.value().note("hash") != options_.hash) {
        return "the checkpoints in " + options_.folder.string() +
               " are of another configuration or of other data; give another --folder";
      }
    }
    return {};
  }
  /// The first process looks; the others hear what it found.
  [[nodiscard]] Status check_folder() const {
    const auto all = processes_.all_gather(processes_.first() ? refusal() : "");
    if (!all) return all.error();
    if (!all.value().front().empty()) return Error{Errc::conflict, all.value().front()};
    return done();
  }
  /// The stage to begin with. The first process knows; the others hear its weights.
  Result<std::size_t> resume(TrainedPolicy& out) const {
    std::string mine;
    for (std::size_t s = options_.stages.size();
         options_.resume && processes_.first() && s-- > 0;) {
      auto weights = load_weights(checkpoint(s));
      if (!weights || weights.value().note("hash") != options_.hash) continue;
      weights.value().notes["stages"] = std::to_string(s + 1);
      const auto bytes = weights_bytes(weights.value());
      if (!bytes) return bytes.error();
      mine.assign(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
      break;
    }
    const auto all = processes_.all_gather(mine);
    if (!all) return all.error();
    const std::string& text = all.value().front();
    if (text.empty()) return 0;
    auto weights = parse_weights(std::as_bytes(std::span(text)));
    if (!weights) return weights.error();
    out.weights = std::move(weights).value();
    const std::size_t stages = std::stoul(out.weights.note("stages", "0"));
    out.weights.notes.erase("stages");
    out.validation.assign(stages, std::stod(out.weights.note("validation", "0")));
    return stages;
  }
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  void say(double part, const std::string& what) const {
    if (!options_.progress) return;
    const auto stages = static_cast<double>(options_.stages.size());
    options_.progress(
        (static_cast<double>(stage_) + part) / stages,
        name_of(options_.stages[std::min(stage_, options_.stages.size() - 1)]) + ": " + what);
  }

  /// work(i) -> Result for all i, side by side; the first error.
  template <class Work>
  Status all(std::size_t count, const Work& work) const {
    std::mutex mutex;
    std::optional<Error> failed;
    for_each_on(options_.threads, count, [&](std::size_t i) {
      if (Status s = work(i); !s.ok()) {
        const std::scoped_lock lock(mutex);
        if (!failed) failed = s.error();
      }
    });
    if (failed) return *failed;
    return done();
  }

  Status measure_baseline() {
    const std::size_t trains = training_.size();
    const auto measure = [&](std::size_t i) -> Result<Row> {
      const auto run =
          run_rule(i < trains ? training_[i] : validation_[i - trains], options_.baseline);
      if (!run) return run.error();
      Row row{figures(run.value()).avg_jct_s};
      if (i >= trains) return row;
      for (const JobRow& job : run.value().jobs) {
        if (job.finish_s < 0) continue;
        row.push_back(job.submit_s);
        row.push_back(job.finish_s);
      }
      return row;
    };
    const auto rows = for_all(processes_, options_.threads, trains + validation_.size(), measure);
    if (!rows) return rows.error();
    for (std::size_t i = 0; i < rows.value().size(); ++i) {
      const Row& row = rows.value()[i];
      (i < trains ? train_jct_ : valid_jct_).push_back(row.front());
      if (i >= trains) continue;
      std::vector<std::pair<double, double>> jobs;
      for (std::size_t k = 1; k + 1 < row.size(); k += 2) jobs.emplace_back(row[k], row[k + 1]);
      baselines_.push_back({row.front(), JobsOverTime(jobs)});
    }
    return done();
  }

  /// A line of train.jsonl, of this stage.
  void write(const nlohmann::ordered_json& record) {
    nlohmann::ordered_json line{{"stage", stage_}};
    line.update(record);
    log_ << line.dump() << std::endl;
  }

  Result<double> validate(const Weights& weights) {
    const auto rows = for_all(
        processes_, options_.threads, validation_.size(), [&](std::size_t i) -> Result<Row> {
          const auto run = run_scenario(options_.system.system, validation_[i], weights);
          if (!run) return run.error();
          return Row{std::log(figures(run.value()).avg_jct_s / valid_jct_[i])};
        });
    if (!rows) return rows.error();
    double sum = 0;
    for (std::size_t i = 0; i < validation_.size(); ++i) {
      const double log_jct = rows.value()[i].front();
      write({{"validation", validation_[i].name}, {"log_jct", log_jct}});
      sum += log_jct;
    }
    return sum / static_cast<double>(std::max<std::size_t>(1, validation_.size()));
  }

  /// Runs of the stage, drawn so that each scenario comes about equally often.
  std::vector<std::size_t> draw(std::uint32_t runs, Rng& rng) const {
    std::vector<std::size_t> out;
    while (out.size() < runs) {
      std::vector<std::size_t> some(training_.size());
      for (std::size_t i = 0; i < some.size(); ++i) some[i] = i;
      for (std::size_t i = some.size(); i > 1; --i)
        std::swap(some[i - 1], some[rng.below(static_cast<std::uint32_t>(i))]);
      out.insert(out.end(), some.begin(), some.end());
    }
    out.resize(runs);
    return out;
  }

  template <class Collect>
  Result<SeenDecisions> gather(std::uint32_t runs, std::uint64_t salt,
                               const Collect& collect) const {
    Rng rng(options_.seed, salt);
    const std::vector<std::size_t> which = draw(runs, rng);
    std::vector<SeenDecisions> parts(which.size());
    std::atomic<std::size_t> finished{0};
    const Status ran = all(which.size(), [&](std::size_t i) -> Status {
      auto some = collect(training_[which[i]], options_.seed + salt * 1000 + i);
      if (!some) return some.error();
      parts[i] = std::move(some).value();
      say(0.8 * static_cast<double>(++finished) / static_cast<double>(which.size()), "collecting");
      return done();
    });
    if (!ran.ok()) return ran.error();
    SeenDecisions seen;
    for (SeenDecisions& part : parts) seen.append(std::move(part));
    return seen;
  }

  /// How far apart the options of a decision are, hours: the tenth, the half, the nine tenths.
  static std::vector<float> spreads(const SeenDecisions& seen) {
    std::vector<float> most;
    for (const SeenDecision& one : seen.all) most.push_back(std::ranges::max(one.target));
    std::ranges::sort(most);
    if (most.empty()) return {};
    return {most[most.size() / 10], most[most.size() / 2], most[most.size() * 9 / 10]};
  }

  Result<Weights> fit(const Weights& start, const SeenDecisions& seen, FitPolicyOptions options,
                      FitPolicyOptions::Target target) {
    options.target = target;
    options.seed = options_.seed;
    if (target == FitPolicyOptions::cost) {
      const std::vector<float> spread = spreads(seen);
      if (!spread.empty()) write({{"spread_h", spread}});
    }
    options.progress = [&](std::uint32_t epoch, double loss) {
      say(0.8 + 0.2 * epoch / options.epochs, "fitting, loss " + std::to_string(loss));
    };
    auto fitted = fit_policy(options_.system, start, seen, options);
    if (!fitted) return fitted.error();
    const FittedPolicy& f = fitted.value();
    write({{"decisions", f.decisions},
           {"loss", {f.loss_before, f.loss}},
           {"best_taken", {f.right_before, f.right}},
           {"seconds", elapsed()}});
    return std::move(fitted).value().weights;
  }

  Result<Weights> take(const ImitateStage& stage, const Weights& start) {
    const auto seen = gather(stage.runs, 100 + stage_, [&](const Scenario& s, std::uint64_t seed) {
      ImitateOptions options = stage.collect;
      options.seed = seed;
      return collect_teacher(options_.system, s, start, options);
    });
    if (!seen) return seen.error();
    return fit(start, seen.value(), stage.fit, FitPolicyOptions::probability);
  }

  Result<Weights> take(const ExpertStage& stage, const Weights& start) {
    Weights weights = start;
    SeenDecisions seen;
    for (std::uint32_t round = 0; round < stage.rounds; ++round) {
      const PolicyRegistry registry = make_policy_registry();
      if (auto known = stage.policy == "net" ? Result<std::unique_ptr<Policy>>(nullptr)
                                             : registry.make(stage.policy);
          !known)
        return known.error();
      auto fresh =
          gather(stage.runs, 200 + 10 * stage_ + round, [&](const Scenario& s, std::uint64_t seed) {
            ExpertOptions options = stage.collect;
            options.seed = seed;
            options.policy = [&]() -> std::unique_ptr<Policy> {
              if (stage.policy == "net")
                return make_net_policy(options_.system.system, weights).value();
              return registry.make(stage.policy).value();
            };
            return collect_expert(options_.system, s, weights, options);
          });
      if (!fresh) return fresh.error();
      seen.append(std::move(fresh).value());
      auto fitted = fit(weights, seen, stage.fit, FitPolicyOptions::cost);
      if (!fitted) return fitted.error();
      weights = std::move(fitted).value();
    }
    return weights;
  }

  Result<Weights> take(const EvolveStage& stage, const Weights& start) {
    EvolveOptions options = stage.options;
    options.threads = options_.threads;
    options.seed = options_.seed + stage_;
    options.processes = &processes_;
    options.progress = {checkpoint(stage_, "progress"), options_.hash, options_.resume};
    options.report = [&](std::uint32_t generation, double log_jct) {
      write({{"generation", generation}, {"log_jct", log_jct}, {"seconds", elapsed()}});
      say(static_cast<double>(generation + 1) / options.generations,
          "generation " + std::to_string(generation + 1) + ", log JCT " + std::to_string(log_jct));
    };
    return evolve(options_.system, start, training_, train_jct_, options);
  }

  Result<Weights> take(const ActorCriticStage& stage, const Weights& start) {
    ActorCriticOptions options = stage.options;
    options.threads = options_.threads;
    options.seed = options_.seed + stage_;
    options.processes = &processes_;
    options.progress = {checkpoint(stage_, "progress"), options_.hash, options_.resume};
    options.report = [&](const ActorCriticOptions::Report& r) {
      write({{"iteration", r.iteration},
             {"log_jct", r.log_jct},
             {"agreement", r.agreement},
             {"entropy", r.entropy},
             {"critic_error", r.critic_error},
             {"explained", r.explained},
             {"divergence", r.divergence},
             {"clipped", r.clipped},
             {"decisions", r.decisions},
             {"scenarios", r.scenarios},
             {"seconds", elapsed()}});
      say(static_cast<double>(r.iteration + 1) / options.iterations,
          "iteration " + std::to_string(r.iteration + 1) + ", log JCT " +
              std::to_string(r.log_jct));
    };
    return actor_critic(options_.system, start, training_, baselines_, options);
  }

  const std::vector<Scenario>&training_, &validation_;
  const TrainPolicyOptions& options_;
  std::size_t stage_ = 0;
  double started_ = 1e9;  // validation of what training began with
  std::ofstream log_;
  ProcessGroup alone_;
  ProcessGroup& processes_;
  std::vector<double> train_jct_, valid_jct_;
  std::vector<Baseline> baselines_;  // of the training scenarios
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

std::string name_of(const TrainStage& stage) {
  static constexpr const char* kNames[] = {"imitate", "expert", "evolve", "actor-critic"};
  return kNames[stage.index()];
}

Result<TrainedPolicy> train_policy(const std::vector<Scenario>& training,
                                   const std::vector<Scenario>& validation,
                                   const TrainPolicyOptions& options) {
  if (training.empty() || validation.empty())
    return Error{Errc::invalid, "train: there must be training and validation scenarios"};
  return Training(training, validation, options).run();
}

}  // namespace starling
