// SPDX-License-Identifier: Apache-2.0
#include "launch/learn/train_dl2.h"

#include <atomic>
#include <memory>
#include <thread>

#include "base/counted.h"
#include "base/short_number.h"
#include "policies/dl2/dl2.h"
#include "policies/dl2/dl2_imitation.h"

namespace starling {
namespace {

/// Draws of each purpose, apart from one another.
constexpr std::uint64_t kHeld = 20'000, kValidation = 40'000, kLearning = 60'000;
constexpr std::uint64_t kActorStream = 1;

class Training {
 public:
  Training(const Dl2World& world, const Dl2TrainingOptions& options)
      : world_(world), options_(options) {
    shape_.window = options.window;
    shape_.shared = options.shared;
  }

  Result<Dl2TrainingReport> run() {
    auto types = world_.types(options_.first_seed);
    if (!types) return types.error();
    shape_.types = std::move(types).value();
    const auto incumbent = mean_jct([this] { return incumbent_parts({}); });
    if (!incumbent) return incumbent.error();
    report_.incumbent_jct_s = incumbent.value();
    auto actor = options_.start ? continued() : warmed_up();
    if (!actor) return actor.error();
    auto learner = std::make_shared<Dl2Learner>(shape_, std::move(actor).value(), options_.learn,
                                                options_.seed);
    const auto warm = validate(*learner);
    if (!warm) return warm.error();
    report_.warm_jct_s = report_.best_jct_s = report_.last_jct_s = warm.value();
    report_.weights = learner->weights();
    options_.say("incumbent " + short_number(report_.incumbent_jct_s) + " s, after the warm-up " +
                 short_number(report_.warm_jct_s) + " s");
    if (Status learned = learn(learner); !learned) return learned.error();
    return std::move(report_);
  }

 private:
  Dl2Division::Parts incumbent_parts(std::function<void(Dl2Example)> show) const {
    Dl2Division::Parts parts;
    parts.shape = shape_;
    parts.incumbent = dl2_incumbent(options_.incumbent);
    parts.show = std::move(show);
    return parts;
  }

  Result<std::vector<Dl2Example>> examples(std::uint64_t first, std::uint32_t draws) const {
    std::vector<Dl2Example> all;
    for (std::uint32_t i = 0; i < draws; ++i) {
      const auto ran = world_.run(options_.first_seed + first + i, 1, [&] {
        return incumbent_parts([&](Dl2Example example) { all.push_back(std::move(example)); });
      });
      if (!ran) return ran.error();
    }
    return all;
  }

  Result<Dl2Head> continued() {
    auto shape = dl2_shape_of(*options_.start);
    if (!shape) return shape.error();
    shape_ = std::move(shape).value();
    return dl2_head_of(*options_.start, shape_, Dl2Head::Kind::actor);
  }

  Result<Dl2Head> warmed_up() {
    const auto shown = examples(0, options_.warm_draws);
    if (!shown) return shown.error();
    const auto held = examples(kHeld, options_.held_draws);
    if (!held) return held.error();
    if (shown.value().empty() || held.value().empty()) {
      return {Errc::invalid, "in " + counted(options_.warm_draws, "run") + " and " +
                                 counted(options_.held_draws, "held-out one") + " " +
                                 options_.incumbent +
                                 " never gave a job a worker or server at a round, so there is "
                                 "nothing to learn; give a world in which jobs share GPUs for "
                                 "longer than a slot"};
    }
    Rng rng = Rng(options_.seed).fork(kActorStream);
    const auto widths = Dl2Head::widths(shape_, Dl2Head::Kind::actor, options_.hidden);
    Dl2Head actor(shape_, Dl2Head::Kind::actor, TrainableMlp(widths, rng));
    Dl2ImitationOptions how;
    how.passes = options_.passes;
    how.seed = options_.seed;
    how.progress = [&](std::uint32_t pass, double loss) {
      if ((pass + 1) % 10 == 0)
        options_.say("warm-up, pass " + std::to_string(pass + 1) + ": cross-entropy " +
                     short_number(loss));
    };
    imitate(actor, shape_, shown.value(), how);
    report_.examples = shown.value().size();
    report_.held = held.value().size();
    report_.agreement = agreement(actor, held.value());
    options_.say("agrees with " + options_.incumbent + " in " +
                 short_number(100 * report_.agreement) + " % of " + std::to_string(report_.held) +
                 " held-out decisions");
    return actor;
  }

  Status learn(const std::shared_ptr<Dl2Learner>& learner) {
    double explored_s = 0, incumbent_s = 0;  // since the last validation
    for (std::uint32_t episode = 0; episode < options_.episodes; ++episode) {
      const std::uint64_t seed = options_.first_seed + kLearning + episode;
      const auto ran = world_.run(seed, options_.agents, [&] {
        Dl2Division::Parts parts = incumbent_parts({});
        parts.learner = learner;
        parts.run = seed;
        return parts;
      });
      if (!ran) return ran.error();
      const auto usual = world_.run(seed, 1, [this] { return incumbent_parts({}); });
      if (!usual) return usual.error();
      explored_s += figures(ran.value()).avg_jct_s;
      incumbent_s += figures(usual.value()).avg_jct_s;
      const bool last = episode + 1 == options_.episodes;
      if (!last && (episode + 1) % options_.validate_every != 0) continue;
      const auto jct = validate(*learner);
      if (!jct) return jct.error();
      report_.last_jct_s = jct.value();
      options_.say("after " + std::to_string(episode + 1) + " runs: " + short_number(jct.value()) +
                   " s, while exploring " + short_number(100 * (1 - explored_s / incumbent_s)) +
                   " % under " + options_.incumbent);
      explored_s = incumbent_s = 0;
      if (jct.value() >= report_.best_jct_s) continue;
      report_.best_jct_s = jct.value();
      report_.best_episode = episode + 1;
      report_.weights = learner->weights();
    }
    return done();
  }

  Result<double> validate(const Dl2Learner& learner) const {
    const Weights weights = learner.weights();
    if (auto net = Dl2Net::make(weights); !net) return net.error();
    return mean_jct([this, &weights] {
      Dl2Division::Parts parts = incumbent_parts({});
      parts.net = Dl2Net::make(weights).value();
      parts.temperature = options_.temperature;
      return parts;
    });
  }

  Result<double> mean_jct(const std::function<Dl2Division::Parts()>& parts) const {
    const std::uint32_t draws = options_.validation_draws;
    std::vector<Result<double>> found(draws, Result<double>(0.0));
    std::atomic<std::uint32_t> next{0};
    const auto some = [&] {
      for (std::uint32_t i = next++; i < draws; i = next++) {
        const auto ran = world_.run(options_.first_seed + kValidation + i, 1, parts);
        found[i] = ran ? Result<double>(figures(ran.value()).avg_jct_s) : ran.error();
      }
    };
    {
      std::vector<std::jthread> pool;
      for (std::uint32_t t = 1; t < options_.threads; ++t) pool.emplace_back(some);
      some();
    }
    double sum = 0;
    for (const Result<double>& one : found) {
      if (!one) return one.error();
      sum += one.value() / draws;
    }
    return sum;
  }

  const Dl2World& world_;
  const Dl2TrainingOptions& options_;
  Dl2Shape shape_;
  Dl2TrainingReport report_;
};

}  // namespace

Dl2LearnOptions usual_learning() {
  Dl2LearnOptions learn;
  learn.rate = 3e-4;
  learn.entropy = 0.01;
  learn.critic_first = 1500;
  learn.marginal = true;
  learn.discounted = false;
  learn.of_remaining = true;
  return learn;
}

Result<Dl2TrainingReport> train_dl2(const Dl2World& world, const Dl2TrainingOptions& options) {
  if (options.first_seed <= world.largest_seed())
    return {Errc::invalid, "draws of training begin with seed " +
                               std::to_string(options.first_seed) +
                               "; the experiment itself has seeds up to " +
                               std::to_string(world.largest_seed()) + ", so take a larger one"};
  return Training(world, options).run();
}

}  // namespace starling
