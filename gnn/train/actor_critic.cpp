// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/actor_critic.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/rng.h"

namespace starling {
namespace {

/// What the critic is told beside what agents know.
constexpr std::size_t kOfRun = 3;
/// Single-threaded OpenBLAS (0.3.21) gives wrong products when two threads of a process call it at
/// once: only episodes run on several.
constexpr std::uint32_t kTorchThreads = 1;

struct Run {
  std::size_t scenario = 0;
  std::uint64_t seed = 0;
};

/// The same time in other runs of the same jobs.
struct Control {
  std::vector<const JobsOverTime*> runs;
  [[nodiscard]] double area(double s) const {
    double sum = 0;
    for (const JobsOverTime* one : runs) sum += one->area(s);
    return sum / static_cast<double>(runs.size());
  }
  [[nodiscard]] double at(double s) const {
    double sum = 0;
    for (const JobsOverTime* one : runs) sum += one->at(s);
    return sum / static_cast<double>(runs.size());
  }
  [[nodiscard]] double end() const {
    double last = 0;
    for (const JobsOverTime* one : runs) last = std::max(last, one->end());
    return last;
  }
};

class Loop {
 public:
  Loop(const TrainableSystem& system, Learner learner, std::span<const Scenario> scenarios,
       std::span<const Baseline> baselines, const ActorCriticOptions& options)
      : system_(system),
        learner_(std::move(learner)),
        scenarios_(scenarios),
        baselines_(baselines),
        options_(options),
        processes_(options.processes == nullptr ? alone_ : *options.processes) {
    easiest_.resize(scenarios.size());
    std::iota(easiest_.begin(), easiest_.end(), std::size_t{0});
    std::ranges::stable_sort(easiest_, {}, [&](std::size_t i) { return difficulty(scenarios[i]); });
  }

  Result<Weights> run() {
    auto first = resumed();
    if (!first) return first.error();
    for (iteration_ = first.value(); iteration_ < options_.iterations; ++iteration_) {
      if (Status s = iterate(); !s.ok()) return s.error();
      Weights state = learner_.checkpoint();
      state.notes["iterations"] = std::to_string(iteration_ + 1);
      if (Status s = options_.progress.write(processes_, std::move(state)); !s.ok())
        return s.error();
    }
    return learner_.weights();
  }

 private:
  /// How many iterations are behind; the first process says it.
  Result<std::uint32_t> resumed() {
    const auto state = options_.progress.read(processes_);
    if (!state) return state.error();
    if (!state.value()) return 0;
    if (Status s = learner_.restore(*state.value()); !s.ok()) return s.error();
    return static_cast<std::uint32_t>(std::stoul(state.value()->note("iterations", "0")));
  }

  [[nodiscard]] std::size_t allowed() const {
    const double part = static_cast<double>(iteration_) / options_.iterations;
    const double grown =
        options_.ramp > 0 ? options_.easy + (1 - options_.easy) * part / options_.ramp : 1;
    const auto count = static_cast<double>(scenarios_.size());
    return static_cast<std::size_t>(std::clamp(std::ceil(grown * count), 1.0, count));
  }

  std::vector<Run> plan(Rng& rng) const {
    std::vector<std::size_t> open(easiest_.begin(),
                                  easiest_.begin() + static_cast<std::ptrdiff_t>(allowed()));
    std::vector<Run> out;
    std::size_t next = open.size();
    while (out.size() + options_.group_size <= std::max(options_.runs, options_.group_size)) {
      if (next == open.size()) {
        for (std::size_t i = open.size(); i > 1; --i)
          std::swap(open[i - 1], open[rng.below(static_cast<std::uint32_t>(i))]);
        next = 0;
      }
      for (std::uint32_t member = 0; member < options_.group_size; ++member)
        out.push_back({open[next], (std::uint64_t{rng.next()} << 32U) | rng.next()});
      ++next;
    }
    return out;
  }

  /// Groups stay together, so that their process has what each run is held against.
  [[nodiscard]] std::size_t shard_of(std::size_t run) const {
    return run / options_.group_size % options_.shards;
  }

  Status play_mine(const std::vector<Run>& runs, std::vector<std::optional<Result<Episode>>>& out) {
    const Weights weights = learner_.weights();
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (processes_.does(shard_of(i))) mine.push_back(i);
    out.resize(runs.size());
    for_each_on(options_.threads, mine.size(), [&](std::size_t k) {
      const Run& run = runs[mine[k]];
      EpisodeOptions episode = options_.episode;
      episode.seed = run.seed;
      out[mine[k]] = play(system_, scenarios_[run.scenario], weights, episode);
    });
    return done();
  }

  /// Values of the critic, advantages and targets of a run, behind those of others.
  void value(const Run& run, Episode&& episode, const Control& control, Experience& out) const {
    const Baseline& baseline = baselines_[run.scenario];
    const double usual =
        std::max(1.0, baseline.jobs.area(baseline.jobs.end()) / baseline.jobs.end());
    const std::size_t steps = episode.steps_s.size();
    std::vector<double> at_h, reward;
    std::vector<std::vector<float>> states = std::move(episode.global_states);
    const double end = std::max(episode.jobs.end(), control.end());
    for (std::size_t k = 0; k < steps; ++k) {
      const double from = episode.steps_s[k];
      const double to = k + 1 < steps ? episode.steps_s[k + 1] : end;
      const double more =
          episode.jobs.area(to) - episode.jobs.area(from) - (control.area(to) - control.area(from));
      at_h.push_back(from / 3600);
      reward.push_back(-more / 3600 / usual / options_.horizon_h);
      const double now = episode.jobs.at(from), others = control.at(from);
      for (const double x : {std::log1p(now) / 6, std::clamp((now - others) / usual, -3.0, 3.0),
                             std::log1p(std::max(others, 0.0)) / 6})
        states[k].push_back(static_cast<float>(x));
    }
    const Returns returns = advantages(at_h, reward, learner_.values(states),
                                       std::exp(-1 / options_.horizon_h), options_.lambda);
    // The luck of a whole run is no decision's: advantages are told from the run's mean.
    double mean = 0;
    for (const std::uint32_t k : episode.step) mean += returns.advantage[k];
    mean /= static_cast<double>(std::max<std::size_t>(1, episode.step.size()));
    for (std::size_t i = 0; i < episode.seen.all.size(); ++i) {
      const std::uint32_t k = episode.step[i];
      out.log_prob.push_back(episode.log_prob[i]);
      out.advantage.push_back(static_cast<float>(returns.advantage[k] - mean));
      out.target.push_back(static_cast<float>(returns.target[k]));
      out.state.push_back(states[k]);
    }
    out.seen.append(std::move(episode.seen));
  }

  enum ShardSum : std::uint8_t {
    kDecisions,
    kAdvantage,
    kAdvantage2,
    kTarget,
    kTarget2,
    kLogs,
    kRuns,
    kAll
  };
  Result<Row> fill_shard(std::size_t shard, const std::vector<Run>& runs,
                         std::vector<std::optional<Result<Episode>>>& episodes, Experience& out) {
    Row sums(kAll, 0.0);
    for (std::size_t i = 0; i < runs.size(); i += options_.group_size) {
      if (shard_of(i) != shard) continue;
      // Number of jobs outlives the episode, for the rest of the group.
      std::vector<JobsOverTime> jobs;
      for (std::size_t c = i; c < i + options_.group_size; ++c) {
        if (!episodes[c]->ok()) return episodes[c]->error();
        jobs.push_back(episodes[c]->value().jobs);
        const Baseline& baseline = baselines_[runs[c].scenario];
        sums[kLogs] += std::log(episodes[c]->value().jct_s / baseline.jct_s);
        ++sums[kRuns];
      }
      for (std::size_t c = 0; c < options_.group_size; ++c) {
        Control control;
        for (std::size_t other = 0; other < jobs.size(); ++other)
          if (other != c) control.runs.push_back(&jobs[other]);
        if (control.runs.empty()) control.runs.push_back(&baselines_[runs[i].scenario].jobs);
        value(runs[i + c], std::move(*episodes[i + c]).value(), control, out);
      }
    }
    for (std::size_t k = 0; k < out.advantage.size(); ++k) {
      ++sums[kDecisions];
      sums[kAdvantage] += out.advantage[k];
      sums[kAdvantage2] += std::pow(out.advantage[k], 2);
      sums[kTarget] += out.target[k];
      sums[kTarget2] += std::pow(out.target[k], 2);
    }
    return sums;
  }

  static void add(Row& sum, const Row& more) {
    sum.resize(more.size(), 0.0);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  }
  static Row total(const std::vector<Row>& shards) {
    Row sum;
    for (const Row& shard : shards) add(sum, shard);
    return sum;
  }

  Status iterate() {
    Rng rng(options_.seed + iteration_, 0xac7);
    const std::vector<Run> runs = plan(rng);
    std::vector<std::optional<Result<Episode>>> episodes;
    if (Status s = play_mine(runs, episodes); !s.ok()) return s;
    std::vector<Experience> shards(options_.shards);
    const auto filled = for_all(processes_, kTorchThreads, shards.size(), [&](std::size_t shard) {
      return fill_shard(shard, runs, episodes, shards[shard]);
    });
    if (!filled) return filled.error();
    const Row all = total(filled.value());
    const double count = std::max(all[kDecisions], 1.0), mean = all[kAdvantage] / count;
    const double deviation = std::sqrt(std::max(all[kAdvantage2] / count - mean * mean, 1e-12));
    for (Experience& shard : shards) {
      for (float& advantage : shard.advantage)
        advantage = static_cast<float>(std::clamp((advantage - mean) / deviation, -4.0, 4.0));
    }
    ActorCriticOptions::Report report;
    report.iteration = iteration_;
    report.scenarios = allowed();
    report.log_jct = all[kLogs] / all[kRuns];
    report.decisions = static_cast<std::uint64_t>(all[kDecisions]);
    if (report.decisions > 0) {
      const double spread = all[kTarget2] / count - std::pow(all[kTarget] / count, 2);
      if (Status s = improve(shards, all[kDecisions], spread, report); !s.ok()) return s;
    }
    if (options_.report) options_.report(report);
    return done();
  }

  /// Some epochs over the shards; every shard gives every step its part.
  Status improve(const std::vector<Experience>& shards, double decisions, double spread,
                 ActorCriticOptions::Report& report) {
    const double part = static_cast<double>(iteration_) / options_.iterations;
    const ActorCriticLoss loss{options_.clip,
                               options_.entropy + (options_.entropy_end - options_.entropy) * part,
                               options_.episode.temperature};
    const auto steps =
        static_cast<std::size_t>(std::max(1.0, std::round(decisions / options_.batch)));
    Row sums(Learner::kSums, 0.0), half[2];
    bool far = false;
    for (std::uint32_t epoch = 0; epoch < options_.epochs && !far; ++epoch) {
      std::vector<std::vector<std::uint32_t>> order(shards.size());
      for (std::size_t l = 0; l < shards.size(); ++l) {
        Rng rng(options_.seed + iteration_, 0xe90000 + epoch * 1000 + l);
        order[l].resize(shards[l].seen.all.size());
        std::iota(order[l].begin(), order[l].end(), 0U);
        for (std::size_t i = order[l].size(); i > 1; --i)
          std::swap(order[l][i - 1], order[l][rng.below(static_cast<std::uint32_t>(i))]);
      }
      for (std::size_t s = 0; s < steps && !far; ++s) {
        const auto rows =
            for_all(processes_, kTorchThreads, shards.size(), [&](std::size_t l) -> Result<Row> {
              const std::size_t n = order[l].size(), from = s * n / steps, to = (s + 1) * n / steps;
              return learner_.gradient(shards[l], std::span(order[l]).subspan(from, to - from),
                                       loss);
            });
        if (!rows) return rows.error();
        const Row step = total(rows.value());
        for (std::size_t l = 0; epoch == 0 && l < shards.size(); ++l)
          add(half[l % 2], rows.value()[l]);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += step[i];
        far = step[Learner::divergence] > options_.divergence * step[Learner::decisions];
        if (far) break;
        learner_.step(step, options_.rate * (1 - 0.9 * part), options_.critic_rate,
                      options_.gradient_cut);
      }
    }
    if (shards.size() > 1) report.agreement = learner_.agreement(half[0], half[1]);
    const double seen = std::max(sums[Learner::decisions], 1.0);
    report.entropy = sums[Learner::entropy] / seen;
    report.critic_error = sums[Learner::critic_error] / seen;
    report.explained = 1 - report.critic_error / std::max(spread, 1e-12);
    report.divergence = sums[Learner::divergence] / seen;
    report.clipped = sums[Learner::clipped] / seen;
    return done();
  }

  const TrainableSystem& system_;
  Learner learner_;
  std::span<const Scenario> scenarios_;
  std::span<const Baseline> baselines_;
  const ActorCriticOptions& options_;
  ProcessGroup alone_;
  ProcessGroup& processes_;
  std::vector<std::size_t> easiest_;  // scenarios, the easiest first
  std::uint32_t iteration_ = 0;
};

}  // namespace

double difficulty(const Scenario& scenario) {
  return scenario.load + 0.2 * static_cast<double>(scenario.topology.gpu_types().size() - 1) +
         0.1 * std::log2(static_cast<double>(scenario.agents));
}

Result<Weights> actor_critic(const TrainableSystem& system, const Weights& start,
                             std::span<const Scenario> scenarios,
                             std::span<const Baseline> baselines,
                             const ActorCriticOptions& options) {
  if (options.processes != nullptr && options.processes->size() > options.shards) {
    return Error{Errc::invalid, "actor-critic: " + std::to_string(options.processes->size()) +
                                    " processes, but shards: " + std::to_string(options.shards) +
                                    "; a process needs at least one shard"};
  }
  const auto scorer = make_scorer(system.system, start);
  if (!scorer) return scorer.error();
  auto learner = Learner::from(system, start, scorer.value()->state_size() + kOfRun, options.seed);
  if (!learner) return learner.error();
  auto made = Loop(system, std::move(learner).value(), scenarios, baselines, options).run();
  if (!made) return made.error();
  for (const auto& [key, text] : start.notes) made.value().notes.try_emplace(key, text);
  return made;
}

}  // namespace starling
