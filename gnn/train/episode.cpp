// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/episode.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/rng.h"

namespace starling {
namespace {

/// What all agents of one run share; the simulator runs them one after the other.
class Recorder {
 public:
  Recorder(const EpisodeOptions& options, std::uint32_t agents)
      : options_(options), rng_(options.seed, 0xac), last_(agents) {}

  std::size_t decide(std::size_t agent, const DecisionPoint& point, LearnedScorer& net,
                     std::span<const double> scores) {
    const std::size_t best = best_of(scores);
    if (point.options.size() < 2) return best;
    note_step(agent, point, net);
    if (!rng_.chance(options_.explore)) return best;
    const std::size_t taken = draw(scores);
    keep(point, net, taken);
    return taken;
  }
  Episode out_;

 private:
  void note_step(std::size_t agent, const DecisionPoint& point, const LearnedScorer& net) {
    std::vector<float>& mine = last_[agent].emplace(net.state_size(), 0.0F);
    net.state(mine);
    const double now = seconds(point.view.now.time_since_epoch());
    if (!out_.steps_s.empty() && out_.steps_s.back() == now) return;
    out_.steps_s.push_back(now);
    std::vector<float>& mean = out_.global_states.emplace_back(mine.size(), 0.0F);
    float agents = 0;
    for (const auto& one : last_) {
      if (!one) continue;
      ++agents;
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += (*one)[k];
    }
    for (float& value : mean) value /= agents;
  }

  std::size_t draw(std::span<const double> scores) {
    const double most = scores[best_of(scores)];
    chances_.clear();
    double sum = 0;
    for (const double one : scores) {
      chances_.push_back(std::exp((one - most) / options_.temperature));
      sum += chances_.back();
    }
    double left = rng_.uniform() * sum;
    std::size_t taken = 0;
    while (taken + 1 < chances_.size() && left >= chances_[taken]) left -= chances_[taken++];
    log_prob_ = static_cast<float>(std::log(std::max(chances_[taken] / sum, 1e-12)));
    return taken;
  }

  void keep(const DecisionPoint& point, LearnedScorer& net, std::size_t taken) {
    ++drawn_;
    std::size_t slot = out_.seen.all.size();
    if (slot == options_.limit) {
      slot = rng_.below(drawn_);
      if (slot >= options_.limit) return;
    }
    out_.seen.add(point, net).chosen = static_cast<std::uint32_t>(taken);
    const auto step = static_cast<std::uint32_t>(out_.steps_s.size() - 1);
    if (slot + 1 == out_.seen.all.size()) {
      out_.log_prob.push_back(log_prob_);
      out_.step.push_back(step);
      return;
    }
    out_.seen.all[slot] = std::move(out_.seen.all.back());
    out_.seen.all.pop_back();
    out_.log_prob[slot] = log_prob_;
    out_.step[slot] = step;
  }

  const EpisodeOptions& options_;
  Rng rng_;
  std::vector<std::optional<std::vector<float>>> last_;  // by agent; none: it had no choice yet
  std::vector<double> chances_;
  float log_prob_ = 0;
  std::uint32_t drawn_ = 0;
};

class Sampler final : public NetChooser {
 public:
  Sampler(Recorder& recorder, std::size_t agent) : recorder_(recorder), agent_(agent) {}
  std::size_t choose(const DecisionPoint& point, std::span<const double> scores) override {
    return recorder_.decide(agent_, point, net(), scores);
  }

 private:
  Recorder& recorder_;
  std::size_t agent_;
};

}  // namespace

JobsOverTime jobs_over_time(const RunResult& run) {
  std::vector<std::pair<double, double>> jobs;
  for (const JobRow& job : run.jobs)
    if (job.finish_s >= 0) jobs.emplace_back(job.submit_s, job.finish_s);
  return JobsOverTime(jobs);
}

Result<Episode> play(const TrainableSystem& system, const Scenario& scenario,
                     const Weights& weights, const EpisodeOptions& options) {
  Recorder recorder(options, scenario.agents);
  std::vector<std::unique_ptr<Sampler>> agents;
  for (std::uint32_t i = 0; i < scenario.agents; ++i)
    agents.push_back(std::make_unique<Sampler>(recorder, i));
  const auto run = run_scenario(system.system, scenario, weights,
                                [&](AgentId agent) { return agents[agent.value].get(); });
  if (!run) return run.error();
  Episode out = std::move(recorder.out_);
  out.jobs = jobs_over_time(run.value());
  out.jct_s = figures(run.value()).avg_jct_s;
  return out;
}

}  // namespace starling
