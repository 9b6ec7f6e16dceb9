// SPDX-License-Identifier: Apache-2.0
#include "gnn/search/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/hash.h"
#include "interference/models.h"
#include "interference/profile.h"

namespace starling {
namespace {

constexpr std::uint32_t kLeastSamples = 3;
constexpr Duration kMemo = std::chrono::minutes(30);  // a model that learns drifts
constexpr std::uint64_t kSalt = 0x5ea5c4;

}  // namespace

void SearchChooser::foresee(const Oracle& oracle) {
  oracle_ = &oracle;
  known_.emplace(oracle);
  true_speed_ = make_true_speed(oracle.physics());
  true_memo_.reset();
}

void SearchChooser::begin(const DecisionContext& context) {
  const View& view = context.view;
  if (!known_) sampler_.observe(view);
  starts_.clear();
  starts_.resize(known_ ? 1 : options_.samples);
  made_.clear();
  expected_s_.clear();
  ++calls_;
  if (asked_ != &view.speed) {
    asked_ = &view.speed;
    pairs_.reset();
    memo_.emplace(view.topology, view.speed);
    pairs_.emplace(view.topology, *memo_);
    if (known_) true_memo_.emplace(view.topology, *true_speed_);
    memo_since_ = view.now;
  } else if (view.now - memo_since_ > kMemo) {
    memo_->forget();
    pairs_->forget();
    memo_since_ = view.now;
  }
  forget_gone(view);
}

void SearchChooser::forget_gone(const View& view) {
  auto waits = view.waiting.begin();
  std::erase_if(refused_, [&](const auto& entry) {
    while (waits != view.waiting.end() && waits->order < entry.first) ++waits;
    return waits == view.waiting.end() || waits->order != entry.first;
  });
}

std::size_t SearchChooser::choose(const DecisionPoint& point, std::span<const double> scores) {
  ++counts_.decisions;
  const std::size_t base = best_of(scores);
  std::size_t best = base;
  if (worth_it(point, base)) {
    shortlist(point, scores, base);
    if (!listed_.empty()) best = search(point, base);
  }
  if (best != base) ++counts_.changed;
  made_.push_back(first_decision(point, best));
  return best;
}

bool SearchChooser::worth_it(const DecisionPoint& point, std::size_t base) const {
  if (point.options.size() < 2 || options_.candidates < 2) return false;
  if (!known_ && !(sampler_.knows() && point.remaining.draws())) return false;
  // Roll-outs know one partition.
  if (point.options[base].kind == OptionKind::forward) return false;
  const Candidate* where = point.options[base].place;
  const bool undisturbed = where != nullptr && !where->shares() && where->slowdown <= 0;
  return !undisturbed || point.view.waiting.size() > 1;
}

void SearchChooser::shortlist(const DecisionPoint& point, std::span<const double> scores,
                              std::size_t base) {
  listed_.clear();
  for (std::size_t i = 0; i < point.options.size(); ++i) {
    if (i == base || scores[base] - scores[i] > options_.margin) continue;
    if (point.options[i].kind != OptionKind::forward) listed_.push_back({i});
  }
  // Waiting comes first.
  std::stable_sort(listed_.begin(), listed_.end(), [&](const Option& a, const Option& b) {
    const bool waits = point.options[a.index].kind == OptionKind::wait,
               other = point.options[b.index].kind == OptionKind::wait;
    return waits != other ? waits : scores[a.index] > scores[b.index];
  });
  listed_.resize(std::min<std::size_t>(listed_.size(), options_.candidates - 1));
}

std::size_t SearchChooser::search(const DecisionPoint& point, std::size_t base) {
  const Candidate* first = point.options[listed_.front().index].place;
  const Placement rival =
      first == nullptr ? point.options[base].place->placement : first->placement;
  const auto refused = refused_.find(point.job.order);
  if (point.options[base].kind == OptionKind::wait && refused != refused_.end() &&
      refused->second.best == rival && point.view.now - refused->second.at < options_.again) {
    return base;
  }
  ++counts_.searches;
  const std::uint64_t budget = counts_.events + options_.events;
  const std::uint32_t least = known_ ? 1 : kLeastSamples;
  std::uint32_t samples = 0;
  std::size_t alive = listed_.size();
  while (samples < starts_.size() && alive > 0 && counts_.events < budget) {
    const RolloutStart& start = start_of(point, samples);
    const double given = cost(point, base, start);
    ++samples;
    alive = 0;
    for (Option& option : listed_) {
      if (!option.alive) continue;
      const double gain = given - cost(point, option.index, start);
      option.sum += gain;
      option.squares += gain * gain;
      const auto [mean, error] = option.gain(samples);
      if (samples >= least && mean <= -options_.errors * error) option.alive = false;
      if (option.alive) ++alive;
    }
  }
  std::size_t best = base;
  double most = 0;
  for (const Option& option : listed_) {
    if (!option.alive || samples < least) continue;
    const auto [mean, error] = option.gain(samples);
    if (mean > options_.errors * error && mean > most) {
      most = mean;
      best = option.index;
    }
  }
  if (point.options[best].kind == OptionKind::wait)
    refused_[point.job.order] = {rival, point.view.now};
  return best;
}

SearchChooser::Gain SearchChooser::Option::gain(std::uint32_t samples) const {
  const double mean = sum / samples;
  const double spread = std::max(0.0, squares / samples - mean * mean);
  return {mean, std::sqrt(spread / std::max(samples - 1, 1U))};
}

double SearchChooser::cost(const DecisionPoint& point, std::size_t index,
                           const RolloutStart& start) {
  made_.push_back(first_decision(point, index));
  QuickLif policy(*pairs_, options_.order);
  const RolloutResult result = rollout_.run(start, made_, policy);
  made_.pop_back();
  ++counts_.rollouts;
  counts_.events += result.events;
  return result.cost_s;
}

const RolloutStart& SearchChooser::start_of(const DecisionPoint& point, std::size_t sample) {
  auto& start = starts_[sample];
  if (start) return *start;
  RolloutWorld world;
  world.asked_memo = &*memo_;
  if (oracle_ != nullptr) {
    world.speed_memo = &*true_memo_;
    world.startup_s = [this](const JobSpec& spec, const JobProfile& job, Duration served) {
      return seconds(start_time(oracle_->physics(), spec, job, served));
    };
  }
  const auto guess = [&] {
    const FutureSampler::Which which{static_cast<std::uint32_t>(sample), options_.samples,
                                     mix64(kSalt + calls_)};
    return sampler_.draw(point, options_.horizon, options_.arrivals, which);
  };
  RolloutFuture future = known_ ? known_->at(point, options_.arrivals) : guess();
  if (options_.order == PlacementOrder::forecast) expect(point, future);
  start = std::make_unique<RolloutStart>(point.view, std::move(future), world);
  return *start;
}

void SearchChooser::expect(const DecisionPoint& point, RolloutFuture& future) {
  const Instant now = point.view.now;
  if (expected_s_.empty()) {
    for (const JobView& job : point.view.waiting)
      expected_s_.push_back(point.remaining.left(job, now));
  }
  future.expected_s = expected_s_;
  for (RolloutArrival& arrival : future.arrivals) {
    JobSpec& job = arrival.spec;
    job.duration = from_seconds(point.remaining.left(job, later(now, arrival.after), now));
  }
}

}  // namespace starling
