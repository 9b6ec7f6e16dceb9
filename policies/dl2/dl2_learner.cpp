// SPDX-License-Identifier: Apache-2.0
#include "policies/dl2/dl2_learner.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace starling {
namespace {

constexpr double kLongestGradient = 1;
constexpr double kMeanOver = 100;  // slots
constexpr double kLeastChance = 1e-12;
constexpr std::uint64_t kMostSteps = 1'000'000'000'000;
constexpr std::uint64_t kCriticStream = 2, kSlotStream = 3, kBatchStream = 4;

Dl2Head fresh_critic(const Dl2Shape& shape, const Dl2Head& actor, std::uint64_t seed) {
  Rng rng = Rng(seed).fork(kCriticStream);
  const auto& all = actor.net().widths();
  const auto hidden = std::span(all).subspan(1, all.size() - 2);
  return {shape, Dl2Head::Kind::critic,
          TrainableMlp(Dl2Head::widths(shape, Dl2Head::Kind::critic, hidden), rng)};
}

void put(MemoryWriter& out, std::span<const float> values) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const auto low = std::bit_cast<std::uint32_t>(values[i]);
    const auto high = std::bit_cast<std::uint32_t>(i + 1 < values.size() ? values[i + 1] : 0.0F);
    out.word((std::uint64_t{high} << 32U) | low);
  }
}

std::vector<float> floats(MemoryReader& in, std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n && in.ok(); i += 2) {
    const std::uint64_t word = in.word();
    values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    if (i + 1 < n) values[i + 1] = std::bit_cast<float>(static_cast<std::uint32_t>(word >> 32U));
  }
  for (const float value : values)
    if (!std::isfinite(value)) in.fail();
  return values;
}

/// So that their spread is 1 and their mean 0.
void normalise(std::vector<double>& values) {
  double mean = 0, square = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (const double v : values) square += (v - mean) * (v - mean);
  const double spread = std::sqrt(square / static_cast<double>(values.size()));
  for (double& v : values) v = (v - mean) / std::max(spread, 1e-6);
}

}  // namespace

Dl2Learner::Dl2Learner(Dl2Shape shape, Dl2Head actor, const Dl2LearnOptions& options,
                       std::uint64_t seed)
    : shape_(std::move(shape)),
      options_(options),
      actor_(std::move(actor)),
      critic_(fresh_critic(shape_, actor_, seed)),
      replay_(options.replay),
      seed_(seed) {}

void Dl2Learner::settle(Dl2Trail& trail, const Dl2Progress& progress,
                        const Dl2Transition::State& next) {
  const auto got = [&](const JobId& job) {
    const auto at = progress.of.find(job);
    return at == progress.of.end() ? 0 : at->second;
  };
  std::vector<Dl2Transition::State> parts;  // of each block
  for (std::size_t first = 0; first < trail.members.size(); first += shape_.window) {
    std::vector<float> of(shape_.window, 0.0F);
    for (std::size_t i = first; i < std::min(first + shape_.window, trail.members.size()); ++i)
      of[i - first] = static_cast<float>(got(trail.members[i]));
    parts.push_back(std::make_shared<const std::vector<float>>(std::move(of)));
  }
  if (!options_.replayed) replay_.clear();
  for (Dl2Trail::Step& step : trail.steps) {
    step.transition.reward = !options_.own_reward ? progress.all : step.job ? got(*step.job) : 0;
    step.transition.parts = parts.at(step.block);
    step.transition.next = next;
    replay_.add(std::move(step.transition));
  }
  trail.steps.clear();
  const double part = 1 / std::min(kMeanOver, static_cast<double>(slots_ + 1));
  mean_reward_ += part * (progress.all - mean_reward_);
  ++slots_;
  due_ = true;
}

void Dl2Learner::begin_slot(Dl2Trail& trail, const Dl2Slot& slot, const Dl2Progress& progress) {
  if (!trail.steps.empty()) {
    std::vector<float> first(shape_.inputs());
    slot.encode(0, first);
    settle(trail, progress, std::make_shared<const std::vector<float>>(std::move(first)));
  }
  trail.members.clear();
  for (const Dl2Member& member : slot.members()) trail.members.push_back(member.job->spec->id);
  trail.rng = Rng(seed_).fork(kSlotStream).fork(trail.run).fork(trail.agent).fork(++trail.slots);
}

void Dl2Learner::end_slot(Dl2Trail& trail, const Dl2Slot& slot) {
  std::vector<Dl2Transition::State> left;  // of each block
  for (std::size_t b = 0; b < slot.blocks(); ++b) {
    std::vector<float> state(shape_.inputs());
    slot.encode(b, state);
    left.push_back(std::make_shared<const std::vector<float>>(std::move(state)));
  }
  for (Dl2Trail::Step& step : trail.steps) step.transition.last = left[step.block];
}

/// By the critic; 0 of the last action, and of those that the mask does not let through.
std::vector<float> Dl2Learner::gains_of(const Dl2Slot& slot, std::size_t block,
                                        std::span<const std::uint8_t> mask) {
  const std::size_t inputs = shape_.inputs();
  std::vector<float> states(inputs);
  slot.encode(block, states);
  std::vector<std::size_t> numbers;
  for (std::size_t k = 0; k + 1 < mask.size(); ++k) {
    if (mask[k] == 0) continue;
    Dl2Slot then = slot;
    then.take(slot.action_of(block, k).value());
    numbers.push_back(k);
    states.resize(states.size() + inputs);
    then.encode(block, std::span(states).last(inputs));
  }
  const auto values = critic_.forward(states, numbers.size() + 1);
  std::vector<float> gains(mask.size(), 0.0F);
  for (std::size_t i = 0; i < numbers.size(); ++i) gains[numbers[i]] = values[i + 1] - values[0];
  return gains;
}

std::optional<Dl2Action> Dl2Learner::poor_action(const Dl2Slot& slot) const {
  for (std::size_t i = 0; i < slot.members().size(); ++i) {
    const Dl2Member& member = slot.members()[i];
    const double w = member.tasks.workers, u = member.tasks.servers;
    if (member.most_servers == 0 || w + u == 0) continue;
    const Dl2Action more_servers{i, Dl2Kind::server}, more_workers{i, Dl2Kind::worker};
    if (w > kUneven * u && slot.allows(more_servers)) return more_servers;
    if (u > kUneven * w && slot.allows(more_workers)) return more_workers;
  }
  return std::nullopt;
}

std::optional<Dl2Learner::Scored> Dl2Learner::score(const Dl2Slot& slot) {
  const std::size_t blocks = slot.blocks(), inputs = shape_.inputs(), actions = shape_.actions();
  Scored scored;
  scored.states.resize(blocks * inputs);
  for (std::size_t b = 0; b < blocks; ++b)
    slot.encode(b, std::span(scored.states).subspan(b * inputs, inputs));
  const auto answered = actor_.forward(scored.states, blocks);
  for (const float score : answered)
    if (!std::isfinite(score)) return std::nullopt;
  for (std::size_t b = 0; b < blocks; ++b) {
    auto& mask = scored.masks.emplace_back(actions);
    slot.mask(b, mask);
    if (std::ranges::count(mask, 1) > 1) scored.open.push_back(b);
    scored.chances.push_back(masked_softmax(answered.subspan(b * actions, actions), mask));
  }
  return scored;
}

std::optional<Dl2Choice> Dl2Learner::best(const Dl2Slot& slot) {
  const auto scored = score(slot);
  if (!scored) return std::nullopt;
  Dl2Choice choice{std::nullopt, 0};
  for (const std::size_t b : scored->open) {
    const auto& chances = scored->chances[b];
    const auto at = std::ranges::max_element(chances);
    if (*at <= choice.probability) continue;
    choice = {slot.action_of(b, static_cast<std::size_t>(at - chances.begin())), *at};
  }
  return choice;
}

std::optional<Dl2Choice> Dl2Learner::choose(Dl2Trail& trail, const Dl2Slot& slot) {
  auto scored = score(slot);
  if (!scored) return std::nullopt;
  // A block is drawn of those in which there is a choice, then what is done in it, or nothing.
  std::optional<Dl2Action> action;
  if (trail.rng.chance(options_.explore)) action = poor_action(slot);
  const auto draw = static_cast<std::uint32_t>(scored->open.size());
  const std::size_t block = action ? slot.block_of(*action) : scored->open[trail.rng.below(draw)];
  const std::vector<double>& chances = scored->chances[block];
  std::size_t number = shape_.actions() - 1;
  if (action) {
    number = slot.number_of(*action);
  } else {
    double u = trail.rng.uniform();
    for (std::size_t k = 0; k < chances.size(); ++k) {
      if (chances[k] <= 0) continue;
      number = k;
      if ((u -= chances[k]) < 0) break;
    }
    action = slot.action_of(block, number);
  }
  const auto row = std::span(scored->states).subspan(block * shape_.inputs(), shape_.inputs());
  Dl2Transition transition;
  transition.state = std::make_shared<const std::vector<float>>(row.begin(), row.end());
  transition.mask = std::move(scored->masks[block]);
  if (options_.marginal) transition.gains = gains_of(slot, block, transition.mask);
  transition.action = number;
  transition.log_probability = std::log(std::max(chances[number], kLeastChance));
  std::optional<JobId> job;
  if (action) job = slot.members()[action->member].job->spec->id;
  trail.steps.push_back({std::move(transition), job, block});
  return Dl2Choice{action, chances[number]};
}

bool Dl2Learner::learn() {
  if (!due_) return false;
  due_ = false;
  for (std::uint32_t i = 0; i < options_.updates; ++i) update();
  return true;
}

void Dl2Learner::update() {
  if (replay_.size() < (options_.replayed ? options_.batch : 1)) return;
  Rng rng = Rng(seed_).fork(kBatchStream).fork(updates_++);
  std::vector<const Dl2Transition*> batch;
  if (options_.replayed) {
    for (std::size_t i = 0; i < options_.batch; ++i)
      batch.push_back(&replay_[rng.below(static_cast<std::uint32_t>(replay_.size()))]);
  } else {
    for (std::size_t i = 0; i < replay_.size(); ++i) batch.push_back(&replay_[i]);
  }
  if (options_.marginal) {
    std::vector<double> brought(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) brought[i] = batch[i]->reward;
    step_critic(batch, values_of(batch, &Dl2Transition::last), brought,
                std::vector<double>(batch.size(), 0.0));
    if (updates_ > options_.critic_first) follow_gains(batch);
    return;
  }
  std::vector<double> worth = advantages(batch);
  normalise(worth);
  if (updates_ > options_.critic_first) step_actor(batch, worth);
}

/// The critic's values of one of the states of each; 0 where there is none.
std::vector<double> Dl2Learner::values_of(std::span<const Dl2Transition* const> batch,
                                          Dl2Transition::State Dl2Transition::*which) {
  std::vector<float> states(batch.size() * shape_.inputs(), 0.0F);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (const auto& state = batch[i]->*which)
      std::ranges::copy(*state, states.begin() + static_cast<std::ptrdiff_t>(i * shape_.inputs()));
  }
  const auto answered = critic_.forward(states, batch.size());
  std::vector<double> values(answered.begin(), answered.end());
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (!(batch[i]->*which)) values[i] = 0;
  return values;
}

/// What each action was worth beyond what its state promised; the critic learns on the way.
std::vector<double> Dl2Learner::advantages(std::span<const Dl2Transition* const> batch) {
  const std::size_t rows = batch.size();
  std::vector<double> worth(rows);
  for (std::size_t i = 0; i < rows; ++i) worth[i] = batch[i]->reward;
  if (!options_.critic) {
    for (double& w : worth) w -= mean_reward_;
    return worth;
  }
  std::vector<double> after_slot(rows, 0.0);
  if (options_.discounted) {
    after_slot = values_of(batch, &Dl2Transition::next);
    for (double& value : after_slot) value *= options_.discount;
  }
  const auto values = values_of(batch, &Dl2Transition::state);
  for (std::size_t i = 0; i < rows; ++i) worth[i] += after_slot[i];
  step_critic(batch, values, worth, after_slot);
  for (std::size_t i = 0; i < rows; ++i) worth[i] -= values[i];
  return worth;
}

/// After its values of the states that it is to learn of.
void Dl2Learner::step_critic(std::span<const Dl2Transition* const> batch,
                             std::span<const double> values, const std::vector<double>& worth,
                             const std::vector<double>& after_slot) {
  const auto count = static_cast<double>(batch.size());
  std::vector<float> by_out;
  if (shape_.shared && options_.critic_by_job && !options_.own_reward) {
    const auto answered = critic_.row_values();
    for (std::size_t r = 0; r < answered.size(); ++r) {
      const Dl2Head::Row& row = critic_.rows()[r];
      const double wanted = row.position == shape_.window
                                ? after_slot[row.state]
                                : static_cast<double>((*batch[row.state]->parts)[row.position]);
      by_out.push_back(static_cast<float>((static_cast<double>(answered[r]) - wanted) / count));
    }
    critic_.backward_rows(by_out);
  } else {
    for (std::size_t i = 0; i < batch.size(); ++i)
      by_out.push_back(static_cast<float>((values[i] - worth[i]) / count));
    critic_.backward(by_out);
  }
  critic_.net().step(options_.critic_rate, kLongestGradient);
}

void Dl2Learner::step_actor(std::span<const Dl2Transition* const> batch,
                            const std::vector<double>& advantages) {
  const std::size_t inputs = shape_.inputs(), actions = shape_.actions(), rows = batch.size();
  std::vector<float> states(rows * inputs), by_out(rows * actions, 0.0F);
  for (std::size_t i = 0; i < rows; ++i)
    std::ranges::copy(*batch[i]->state, states.begin() + static_cast<std::ptrdiff_t>(i * inputs));
  const auto answered = actor_.forward(states, rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const Dl2Transition& t = *batch[i];
    const auto p = masked_softmax(answered.subspan(i * actions, actions), t.mask);
    double entropy = 0;
    for (const double chance : p) entropy -= chance > 0 ? chance * std::log(chance) : 0;
    const double now = std::log(std::max(p[t.action], kLeastChance));
    const double counts = std::min(1.0, std::exp(now - t.log_probability)) * advantages[i];
    for (std::size_t k = 0; k < actions; ++k) {
      if (p[k] <= 0) continue;
      const double likelier = (k == t.action ? 1.0 : 0.0) - p[k];
      const double flatter = -p[k] * (std::log(p[k]) + entropy);
      by_out[i * actions + k] = static_cast<float>(
          -(counts * likelier + options_.entropy * flatter) / static_cast<double>(rows));
    }
  }
  actor_.backward(by_out);
  actor_.net().step(options_.rate, kLongestGradient);
}

void Dl2Learner::follow_gains(std::span<const Dl2Transition* const> batch) {
  const std::size_t inputs = shape_.inputs(), actions = shape_.actions(), rows = batch.size();
  std::vector<float> states(rows * inputs), by_out(rows * actions, 0.0F);
  for (std::size_t i = 0; i < rows; ++i)
    std::ranges::copy(*batch[i]->state, states.begin() + static_cast<std::ptrdiff_t>(i * inputs));
  const auto answered = actor_.forward(states, rows);
  std::vector<std::vector<double>> chances, beyond(rows);
  double square = 0, count = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const Dl2Transition& t = *batch[i];
    const auto& p =
        chances.emplace_back(masked_softmax(answered.subspan(i * actions, actions), t.mask));
    double mean = 0;
    for (std::size_t k = 0; k < actions; ++k) mean += p[k] * static_cast<double>(t.gains[k]);
    for (std::size_t k = 0; k < actions; ++k) {
      beyond[i].push_back(static_cast<double>(t.gains[k]) - mean);
      if (t.mask[k]) square += beyond[i][k] * beyond[i][k], ++count;
    }
  }
  const double spread = std::max(std::sqrt(square / count), 1e-6);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto& p = chances[i];
    double entropy = 0;
    for (const double chance : p) entropy -= chance > 0 ? chance * std::log(chance) : 0;
    for (std::size_t k = 0; k < actions; ++k) {
      if (p[k] <= 0) continue;
      const double flatter = -p[k] * (std::log(p[k]) + entropy);
      by_out[i * actions + k] = static_cast<float>(
          -(p[k] * beyond[i][k] / spread + options_.entropy * flatter) / static_cast<double>(rows));
    }
  }
  actor_.backward(by_out);
  actor_.net().step(options_.rate, kLongestGradient);
}

Weights Dl2Learner::weights() const {
  Weights weights;
  put_shape(weights, shape_);
  actor_.net().put(weights, "actor.");
  critic_.net().put(weights, "critic.");
  return weights;
}

void Dl2Learner::save(MemoryWriter& out) const {
  out.word(slots_), out.word(updates_), out.number(mean_reward_);
  out.word(actor_.net().parameters().size());
  put(out, actor_.net().parameters()), put(out, critic_.net().parameters());
  out.word(actor_.net().moments().steps);
  put(out, actor_.net().moments().first), put(out, actor_.net().moments().second);
}

void Dl2Learner::restore(MemoryReader& in) {
  const std::uint64_t slots = in.word(), updates = in.word();
  const double mean = in.number(-1e6, 1e6);
  if (in.word() != actor_.net().parameters().size()) in.fail();
  const auto actor = floats(in, actor_.net().parameters().size());
  const auto critic = floats(in, critic_.net().parameters().size());
  const std::uint64_t steps = in.word();
  auto first = floats(in, actor.size()), second = floats(in, actor.size());
  // Adam takes roots of second moments, and powers by its steps.
  if (std::ranges::any_of(second, [](float moment) { return moment < 0; })) in.fail();
  if (std::max({slots, updates, steps}) > kMostSteps) in.fail();
  if (!in.whole()) return;
  slots_ = slots, updates_ = updates, mean_reward_ = mean;
  std::ranges::copy(actor, actor_.net().parameters().begin());
  std::ranges::copy(critic, critic_.net().parameters().begin());
  actor_.net().moments() = {std::move(first), std::move(second), steps};
}

}  // namespace starling
