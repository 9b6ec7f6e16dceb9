// SPDX-License-Identifier: Apache-2.0
#include "launch/learn/train_dl2.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/short_number.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/commands/learning.h"
#include "launch/experiment/load_experiment.h"
#include "launch/experiment/set_variables.h"
#include "launch/wiring/wiring.h"
#include "nets/weights.h"

namespace starling {
namespace {

struct Options {
  std::string experiment, set, out = "dl2.weights", start, incumbent = "drf", without = "nothing",
                               update = "marginal", head = "shared", reward = "remaining";
  std::uint32_t hidden = 32, batch = 256;
  Dl2TrainingOptions training;
  bool json = false, quiet = false;
  std::string shaped_by;  // an option that says which shape a new net has, where one is given
};

/// Leaves out what `without` names; false: it names nothing that there is.
bool leave_out(const std::string& without, Dl2LearnOptions& learn) {
  if (without == "replay") {
    learn.replayed = false;
  } else if (without == "critic") {
    learn.critic = false;
  } else if (without == "exploration") {
    learn.explore = 0;
  } else if (without == "shared-reward") {
    learn.own_reward = true;
  } else {
    return without == "nothing";
  }
  return true;
}

void print(const Options& o, const Dl2TrainingReport& r) {
  if (o.json) {
    const nlohmann::json out{{"agreement", r.agreement},
                             {"examples", r.examples},
                             {"held", r.held},
                             {"incumbent_jct_s", r.incumbent_jct_s},
                             {"warm_jct_s", r.warm_jct_s},
                             {"best_jct_s", r.best_jct_s},
                             {"best_episode", r.best_episode},
                             {"last_jct_s", r.last_jct_s},
                             {"weights", o.out}};
    std::printf("%s\n", out.dump().c_str());
    return;
  }
  std::printf(
      "%s: mean JCT over the validation draws %s s after %u runs; %s %s s, after the warm-up "
      "%s s\n",
      o.out.c_str(), short_number(r.best_jct_s).c_str(), r.best_episode, o.incumbent.c_str(),
      short_number(r.incumbent_jct_s).c_str(), short_number(r.warm_jct_s).c_str());
}

int train(Options& o) {
  Dl2TrainingOptions& training = o.training;
  const std::string where = "train dl2: ";
  if (o.experiment.empty())
    return bad_input(where +
                     "--experiment FILE is missing: the world that it learns in, such as "
                     "examples/experiments/dl2.yaml");
  if (o.incumbent != "drf" && o.incumbent != "optimus")
    return bad_input(where + "--incumbent " + o.incumbent + " is wrong; give drf or optimus");
  if (o.update != "paper" && o.update != "code" && o.update != "marginal")
    return bad_input(where + "--update " + o.update + " is wrong; give marginal, paper or code");
  if (o.head != "shared" && o.head != "flat")
    return bad_input(where + "--head " + o.head + " is wrong; give shared or flat");
  if (!leave_out(o.without, training.learn))
    return bad_input(where + "--without " + o.without +
                     " is wrong; give replay, critic, exploration, shared-reward or nothing");
  if (const auto good = check_out_file(o.out, OutKind::weights); !good)
    return bad_input(where + "--out: " + good.error().message);
  if (!o.start.empty()) {
    if (!o.shaped_by.empty())
      return bad_input(where + o.shaped_by +
                       " is wrong beside --start, whose weights have their shape; leave it out");
    auto start = load_weights(o.start);
    if (!start) return bad_input(where + start.error().message);
    training.start = std::move(start).value();
  }
  training.incumbent = o.incumbent;
  training.hidden = {o.hidden, o.hidden};
  if (o.reward != "all" && o.reward != "remaining")
    return bad_input(where + "--reward " + o.reward + " is wrong; give all or remaining");
  training.learn.of_remaining = o.reward == "remaining";
  training.shared = o.head == "shared";
  training.learn.batch = o.batch;
  training.learn.discounted = o.update == "paper";
  training.learn.marginal = o.update == "marginal";
  if (!o.quiet)
    training.say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  const auto variables = read_variables(o.experiment, o.set);
  if (!variables)
    return bad_input(where + "--set: " + o.experiment + ": " + variables.error().message);
  auto experiment = load_experiment(o.experiment, simulated_policies(), variables.value());
  if (!experiment) return bad_input(experiment.error().message);
  const auto world = Dl2World::make(std::move(experiment).value());
  if (!world) return bad_input(where + world.error().message);
  auto trained = train_dl2(world.value(), training);
  if (!trained)
    return trained.error().code == Errc::invalid ? bad_input(where + trained.error().message)
                                                 : failed(trained.error());
  Weights& weights = trained.value().weights;
  weights.notes["trained"] = "starling train dl2, incumbent " + o.incumbent + ", " +
                             std::to_string(trained.value().best_episode) + " runs, seed " +
                             std::to_string(training.seed);
  if (const Status saved = save_weights(o.out, weights); !saved) return failed(saved.error());
  print(o, trained.value());
  return kDone;
}

}  // namespace

void add_train_dl2(const Command& train_command) {
  const Command command =
      train_command.sub("dl2", "workers and parameter servers of jobs, as DL2 learns them");
  const auto o = std::make_shared<Options>();
  Dl2TrainingOptions& t = o->training;
  constexpr std::uint32_t kMany = 1'000'000;
  command.option("--experiment", o->experiment, "FILE",
                 "its first topology, workload and load are the world; its seeds are never drawn");
  command.option("--set", o->set, "NAME=VALUE[,..]",
                 "values for ${NAME} in the experiment's file names, physics and speed");
  command.option("--out", o->out, "FILE", "the weights (default dl2.weights)");
  command.option("--start", o->start, "FILE", "weights to go on from, in the place of a warm-up");
  command.option("--incumbent", o->incumbent, "drf|optimus",
                 "whose decisions the warm-up learns (default drf)");
  command.option("--update", o->update, "marginal|paper|code",
                 "of an action's worth; marginal: what it adds to its slot; paper: discounted "
                 "advantages; code: of a slot's own reward (default marginal)");
  command.option("--without", o->without, "PART",
                 "replay, critic, exploration or shared-reward: an ablation (default nothing)");
  command.option("--hidden", o->hidden, "N", "width of its two hidden layers (default 32)", 1U,
                 4096U);
  command.option("--head", o->head, "shared|flat",
                 "shared: a small net looks at each job by itself; flat: one at all, as its paper "
                 "(default shared)");
  command.option("--reward", o->reward, "remaining|all",
                 "of what a job's progress is a part: what remained of it when the slot began, or "
                 "all of its work, as its paper (default remaining)");
  command.option("--critic-first", t.learn.critic_first, "N",
                 "updates of the critic alone, at first (default 1500)", std::uint64_t{0},
                 std::uint64_t{kMany});
  command.option("--critic-rate", t.learn.critic_rate, "X", "of the critic's Adam (default 1e-3)",
                 0.0);
  command.option("--temperature", t.temperature, "X",
                 "at which validation draws actions (default 0: the likeliest)", 0.0, true);
  command.option("--batch", o->batch, "N", "inferences of an update (default 256)", 1U, 65'536U);
  command.option("--window", t.window, "N", "jobs that it sees at once (default 20)", 1U, 256U);
  command.option("--warm-draws", t.warm_draws, "N", "runs of the incumbent (default 60)", 1U,
                 10'000U);
  command.option("--passes", t.passes, "N", "over what they show (default 2)", 1U, kMany);
  command.option("--episodes", t.episodes, "N", "runs of learning (default 400)", 0U, kMany);
  command.option("--agents", t.agents, "N", "that learn together in each run (default 1)", 1U, 64U);
  command.option("--updates", t.learn.updates, "N", "at each slot (default 1)", 1U, 100U);
  command.option("--rate", t.learn.rate, "X", "of the actor's Adam (default 3e-4)", 0.0);
  command.option("--entropy", t.learn.entropy, "X", "weight of the entropy (default 0.01)", 0.0,
                 true);
  command.option("--discount", t.learn.discount, "X",
                 "of the next slot, with --update paper (default 0.9)", 0.0, true);
  command.option("--validate-every", t.validate_every, "N", "runs of learning (default 50)", 1U,
                 kMany);
  command.option(
      "--validation-draws", t.validation_draws, "N",
      "runs with draws of their own, whose mean JCT says which weights are kept (default 24)", 1U,
      10'000U);
  command.option("--first-seed", t.first_seed, "S", "of the draws (default 100000)",
                 std::uint64_t{1}, std::uint64_t{1} << 40U);
  command.option("--seed", t.seed, "S", "same seed, same weights (default 1)", std::uint64_t{0},
                 ~std::uint64_t{0});
  command.option("--threads", t.threads, "N", "of validation (default 2)", 1U, 1024U);
  command.flag("--json", o->json, "only JSON on stdout");
  command.flag("-q,--quiet", o->quiet, "no progress on stderr");
  command.examples(
      {"starling train dl2 --experiment examples/experiments/dl2.yaml --out my.weights",
       "starling sim --policy dl2:weights=my.weights --topology dc.yaml --trace "
       "jobs.csv --physics dl2 --speed physics"});
  command.action([o, command] {
    for (const char* const option : {"--window", "--hidden", "--head"})
      if (command.given(option)) o->shaped_by = option;
    return train(*o);
  });
}

}  // namespace starling
