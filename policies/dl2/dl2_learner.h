// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "nets/weights.h"
#include "policies/dl2/dl2_net.h"
#include "policies/dl2/dl2_replay.h"
#include "scheduling/memory_bytes.h"

namespace starling {

/// How DL2's net learns from what its slots brought. Defaults are the paper's (section 6) but for
/// those that say otherwise.
struct Dl2LearnOptions {
  double rate = 1e-4, critic_rate = 1e-3;  ///< of Adam; the paper has 1e-4 for both
  double entropy = 0.1;
  double discount = 0.9;
  std::size_t batch = 256, replay = 8192;
  /// Ours: the critic learns what a slot brings by how it was shared out in the end, every action
  /// that was allowed is worth what it adds to that, V(after) - V(before), and the actor follows
  /// the mean over all of them: nothing is left to the chance of what was taken, of what follows in
  /// the slot, or after it, for later slots do not count. False: as the paper.
  bool marginal = false;
  /// Of a shared head: the critic learns of each job what it gets on, not of all what they get on
  /// together. Ours.
  bool critic_by_job = true;
  double explore = 0.4;       ///< of the actions in a poor state that are job-aware ones
  bool discounted = true;     ///< false: as its code, advantage = reward - V
  bool own_reward = false;    ///< true: an action is worth what its own job gets on; an ablation
  bool of_remaining = false;  ///< true: parts of what remained, not of all of a job's work; ours
  bool critic = true;         ///< false: a moving mean of rewards in its place; an ablation
  bool replayed = true;       ///< false: of each slot that slot alone; an ablation
  std::uint32_t updates = 1;  ///< at each slot
  std::uint64_t critic_first = 0;  ///< updates of the critic alone, at first
};

/// The slot under way of one agent, whose learner others may have too.
struct Dl2Trail {
  struct Step {
    Dl2Transition transition;
    std::optional<JobId> job;
    std::size_t block = 0;
  };
  std::vector<Step> steps;
  std::vector<JobId> members;        ///< of the slot
  std::uint64_t run = 0, agent = 0;  ///< whose chance is another's in no slot
  std::uint64_t slots = 0;           ///< how many it had
  Rng rng{0};
};

/// What a slot brought: part of its work, or of what remained of it, that each job did in it.
struct Dl2Progress {
  double all = 0;
  std::map<JobId, double> of;
};

/// DL2's actor and critic while they learn (section 4.3): all inferences of a slot share its reward
/// r, the sum over jobs of the parts of their work that they did in it. Advantage r + discount
/// V(s')
/// - V(s), s' the first state of the next slot; policy gradient with an entropy term, critic by
/// squared error, mini-batches from a replay memory, one update a slot. Beyond the paper:
/// advantages are in units of their spread in the batch, and what an action counts is cut down by
/// how much less likely the net has become to take it (min(1, pi / pi_old)), for it comes from the
/// past.
///
/// Job-aware exploration: in a slot whose state is poor, with workers and no server of a job, a
/// server and no workers, or more than kUneven times as many of one kind, with `explore` the scarce
/// kind is added.
///
/// Several agents may have one learner: then each update is on what all of them have done, and the
/// gradient is the mean over them. Deterministic: all chance is from the seed, and the agent's
/// number and slots.
class Dl2Learner {
 public:
  static constexpr double kUneven = 10;

  /// The critic is drawn anew, as wide as the actor.
  Dl2Learner(Dl2Shape shape, Dl2Head actor, const Dl2LearnOptions& options, std::uint64_t seed);
  [[nodiscard]] const Dl2Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const Dl2LearnOptions& options() const noexcept { return options_; }

  /// A slot begins for every job there, and `progress` is what the last one brought.
  void begin_slot(Dl2Trail& trail, const Dl2Slot& slot, const Dl2Progress& progress);
  /// Draws the next action of a slot in which something is allowed. Nothing: the net answers no
  /// numbers.
  [[nodiscard]] std::optional<Dl2Choice> choose(Dl2Trail& trail, const Dl2Slot& slot);
  /// That is how the slot was shared out.
  void end_slot(Dl2Trail& trail, const Dl2Slot& slot);
  /// The most likely action; nothing is learned of it.
  [[nodiscard]] std::optional<Dl2Choice> best(const Dl2Slot& slot);
  /// An update, where a slot has ended since the last one. Tells whether there was one.
  bool learn();

  /// Actor (`actor.`) and critic (`critic.`), with the notes of the shape.
  [[nodiscard]] Weights weights() const;
  /// Both nets, and Adam's moments of the actor; the replay memory and the critic's moments begin
  /// anew.
  void save(MemoryWriter& out) const;
  /// Reads last: unless `in` is whole after it, nothing has changed.
  void restore(MemoryReader& in);
  [[nodiscard]] std::uint64_t updates() const noexcept { return updates_; }

 private:
  struct Scored {  // the blocks of a slot
    std::vector<float> states;
    std::vector<std::vector<double>> chances;
    std::vector<std::vector<std::uint8_t>> masks;
    std::vector<std::size_t> open;  // in which there is a choice
  };
  [[nodiscard]] std::optional<Scored> score(const Dl2Slot& slot);
  [[nodiscard]] std::optional<Dl2Action> poor_action(const Dl2Slot& slot) const;
  void update();
  void settle(Dl2Trail& trail, const Dl2Progress& progress, const Dl2Transition::State& next);
  void step_critic(std::span<const Dl2Transition* const> batch, std::span<const double> values,
                   const std::vector<double>& worth, const std::vector<double>& after_slot);
  [[nodiscard]] std::vector<double> values_of(std::span<const Dl2Transition* const> batch,
                                              Dl2Transition::State Dl2Transition::*which);
  [[nodiscard]] std::vector<float> gains_of(const Dl2Slot& slot, std::size_t block,
                                            std::span<const std::uint8_t> mask);
  void follow_gains(std::span<const Dl2Transition* const> batch);
  [[nodiscard]] std::vector<double> advantages(std::span<const Dl2Transition* const> batch);
  void step_actor(std::span<const Dl2Transition* const> batch,
                  const std::vector<double>& advantages);

  Dl2Shape shape_;
  Dl2LearnOptions options_;
  Dl2Head actor_, critic_;
  Dl2Replay replay_;
  bool due_ = false;
  double mean_reward_ = 0;
  std::uint64_t seed_ = 0, slots_ = 0, updates_ = 0;
};

}  // namespace starling
