// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/actor_critic.h"

#include <cmath>
#include <filesystem>

#include "base/test_folder.h"
#include "gnn/marl/fresh_net.h"
#include "gnn/train/test_checks.h"
#include "gnn/train/test_scenario.h"

namespace starling {
namespace {

Weights random_weights() { return fresh_marl({.hidden = {8}}, 7); }

std::vector<Scenario> scenarios() {
  std::vector<Scenario> out{small_scenario(1), small_scenario(2), small_scenario(3)};
  out[0].load = 0.7;
  out[2].agents = 2;
  return out;
}

std::vector<Baseline> baselines(const std::vector<Scenario>& scenarios) {
  std::vector<Baseline> out;
  for (const Scenario& scenario : scenarios) {
    const RunResult run = run_rule(scenario, "lif:threshold=0.3").value();
    out.push_back({figures(run).avg_jct_s, jobs_over_time(run)});
  }
  return out;
}

ActorCriticOptions brief() {
  ActorCriticOptions options;
  options.iterations = 3;
  options.runs = 4;
  options.group_size = 2;
  options.epochs = 2;
  options.batch = 64;
  options.episode.limit = 60;
  options.easy = 0.3;
  options.rate = 1e-2;
  options.divergence = 10;
  return options;
}

TEST_CASE("an episode keeps what was drawn, and the same seed draws the same") {
  const Scenario scenario = small_scenario(1);
  EpisodeOptions options;
  options.limit = 50;
  const Episode one = play(marl(), scenario, random_weights(), options).value();
  const Episode again = play(marl(), scenario, random_weights(), options).value();
  REQUIRE(one.seen.all.size() == 50);
  CHECK(one.jct_s == again.jct_s);
  CHECK(one.log_prob == again.log_prob);
  CHECK(one.steps_s.size() == one.global_states.size());
  CHECK(std::ranges::is_sorted(one.steps_s));
  // By Little's law.
  CHECK(one.jobs.area(one.jobs.end()) / 120 == doctest::Approx(one.jct_s));
  for (std::size_t i = 0; i < one.seen.all.size(); ++i) {
    CHECK(one.seen.all[i].chosen < one.seen.all[i].options);
    CHECK(one.log_prob[i] <= 0);
    CHECK(one.step[i] < one.steps_s.size());
  }
  options.seed = 2;
  CHECK(play(marl(), scenario, random_weights(), options).value().jct_s != one.jct_s);
  options.explore = 1e-9;
  CHECK(play(marl(), scenario, random_weights(), options).value().seen.all.empty());
}

TEST_CASE("the chance that an episode notes is the one that the learner computes") {
  const Episode episode =
      play(marl(), small_scenario(1), random_weights(), {.temperature = 0.5}).value();
  Experience experience;
  experience.seen = episode.seen;
  const std::size_t count = experience.seen.all.size();
  experience.log_prob = episode.log_prob;
  experience.advantage.assign(count, 0);
  experience.target.assign(count, 0);
  experience.state.assign(count, std::vector<float>(3, 0.0F));
  const Learner learner = Learner::from(marl(), random_weights(), 3, 1).value();
  std::vector<std::uint32_t> rows(count);
  for (std::uint32_t i = 0; i < count; ++i) rows[i] = i;
  const Row sums = learner.gradient(experience, rows, {.temperature = 0.5});
  CHECK(sums[Learner::decisions] == static_cast<double>(count));
  CHECK(sums[Learner::divergence] == doctest::Approx(0).epsilon(1e-4));
  CHECK(sums[Learner::clipped] == 0);
}

TEST_CASE("what has an advantage becomes likelier, and the critic learns") {
  const Episode episode = play(marl(), small_scenario(1), random_weights(), {}).value();
  Experience experience;
  experience.seen = episode.seen;
  const std::size_t count = experience.seen.all.size();
  experience.log_prob = episode.log_prob;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < count; ++i) {
    // Waiting has the advantage.
    const SeenDecision& one = experience.seen.all[i];
    experience.advantage.push_back(one.chosen + 1 == one.options ? 1.0F : -1.0F);
    experience.target.push_back(2);
    experience.state.push_back({1.0F, 0.0F, 1.0F});
    rows.push_back(i);
  }
  Learner learner = Learner::from(marl(), random_weights(), 3, 1).value();
  const auto chance_of_last = [&] {
    const std::unique_ptr<PolicyModel> model = marl().training.model(learner.weights()).value();
    double sum = 0;
    for (const std::uint32_t row : rows) {
      const torch::Tensor chances =
          torch::softmax(model->scores(experience.seen, std::span(&row, 1)), 1);
      sum += chances[0][experience.seen.all[row].options - 1].item<double>();
    }
    return sum / static_cast<double>(rows.size());
  };
  const double before = chance_of_last();
  const double error = learner.gradient(experience, rows, {})[Learner::critic_error];
  for (int i = 0; i < 40; ++i)
    learner.step(learner.gradient(experience, rows, {}), 1e-3, 1e-2, 0.5);
  CHECK(chance_of_last() > before + 0.02);
  CHECK(learner.gradient(experience, rows, {})[Learner::critic_error] < 0.2 * error);
}

TEST_CASE("the same seed gives the same weights, however many threads, and also when resumed") {
  const std::vector<Scenario> some = scenarios();
  const std::vector<Baseline> usual = baselines(some);
  const TestFolder folder("actor-critic");
  ActorCriticOptions options = brief();
  options.threads = 1;
  options.progress.file = folder.path / "progress";
  options.progress.hash = "1";
  std::vector<std::size_t> open;
  options.report = [&](const ActorCriticOptions::Report& report) {
    open.push_back(report.scenarios);
    CHECK(report.decisions > 0);
    CHECK(report.entropy > 0);
    if (report.iteration == 2)
      std::filesystem::copy_file(options.progress.file, folder.path / "two-done");
  };
  const Weights one = actor_critic(marl(), random_weights(), some, usual, options).value();
  CHECK(open == std::vector<std::size_t>{1, 3, 3});  // the curriculum
  CHECK(one.hash() != random_weights().hash());
  options.report = nullptr;
  options.progress.file.clear();
  options.threads = 3;
  CHECK(actor_critic(marl(), random_weights(), some, usual, options).value().hash() == one.hash());
  options.progress.file = folder.path / "two-done";
  options.progress.resume = true;
  std::size_t ran = 0;
  options.report = [&](const auto&) { ++ran; };
  CHECK(actor_critic(marl(), random_weights(), some, usual, options).value().hash() == one.hash());
  CHECK(ran == 1);
  // Of another configuration: from the beginning.
  options.progress.hash = "2";
  CHECK(actor_critic(marl(), random_weights(), some, usual, options).value().hash() == one.hash());
  CHECK(ran == 4);
}

TEST_CASE("more load, kinds of GPUs and agents are harder") {
  Scenario scenario = small_scenario(1);
  scenario.load = 0.9;
  const double easy = difficulty(scenario);
  scenario.agents = 4;
  CHECK(difficulty(scenario) > easy);
}

}  // namespace
}  // namespace starling
