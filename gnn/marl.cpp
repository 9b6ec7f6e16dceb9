// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace starling {

Marl::Marl(const PolicyFacts& facts, const QueueOptions& options, PolicyNet net,
           PlacementOrder order, const AblationMask& mask)
    : PlacementPolicy(options, true, order),
      facts_(facts),
      net_(std::move(net)),
      mask_(mask),
      others_(EncoderNet::kWidth, 0.0F) {
  if (net_.has_encoder()) encoder_.emplace(net_.encoder());
}

std::vector<Decision> Marl::decide(const View& given, const Trigger& trigger, Rng& rng) {
  const View view = isolated_.seen_with(mask_, given);
  std::vector<Decision> out = PlacementPolicy::decide(view, trigger, rng);
  if (encoder_ && !view.others.empty()) {  // what they are told is what has been decided
    encoder_->sync(view, candidates_);
    synced_ = true;
  }
  return out;
}

std::span<const float> Marl::summary() const {
  return synced_ ? encoder_->partition() : std::span<const float>{};
}

void Marl::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  count_queue();
  read_others(view);
  if (chooser_ != nullptr) chooser_->begin(view);
  PlacementPolicy::start_here(view, trial, out);
}

void Marl::count_queue() {
  waiting_gpus_ = ahead_gpus_ = 0;
  waiting_jobs_ = index_.queue().size();
  by_size_.assign(33, 0);
  for (const QueueEntry& entry : index_.queue()) {
    waiting_gpus_ += entry.gpus;
    ++by_size_[static_cast<std::size_t>(std::bit_width(entry.gpus))];
  }
  for (std::size_t i = 1; i < by_size_.size(); ++i) by_size_[i] += by_size_[i - 1];
}

QueueView Marl::queue_of(const Wish& wish) const {
  QueueView queue{waiting_jobs_, waiting_gpus_, ahead_gpus_, 0};
  const auto smaller = by_size_[static_cast<std::size_t>(std::bit_width(wish.gpus)) - 1];
  if (waiting_jobs_ > 0)
    queue.smaller = static_cast<double>(smaller) / static_cast<double>(waiting_jobs_);
  return queue;
}

void Marl::passed_over(const QueueEntry& entry) { ahead_gpus_ += entry.gpus; }

namespace {

/// What another agent said, if it is an embedding of ours: nothing that it sends breaks a score.
void add_summary(std::span<const float> summary, float part, std::span<float> out) {
  constexpr float kMost = 100;
  if (summary.size() != EncoderNet::kWidth) return;
  for (std::size_t i = 0; i < summary.size(); ++i)
    out[i] += part * (std::isfinite(summary[i]) ? std::clamp(summary[i], -kMost, kMost) : 0.0F);
}

}  // namespace

std::string read_order(OptionReader& reader) {
  return reader.choice("order", {"trained", "forecast", "arrival"},
                       "who is asked about first; trained: as the weights were, by forecast, or by "
                       "arrival where they never wait; lif: by forecast");
}

void Marl::read_others(const View& view) {
  std::ranges::fill(others_, 0.0F);
  const auto said = std::ranges::count_if(
      view.others, [](const RemoteDigest& d) { return d.summary.size() == EncoderNet::kWidth; });
  if (!encoder_ || said == 0) return;
  for (const RemoteDigest& d : view.others)
    add_summary(d.summary, 1.0F / static_cast<float>(said), others_);
}

void Marl::find_options(const View& view, const Wish& wish) {
  find_places(candidates_, wish, options_);
  places_ = options_.size();
  options_.resize(places_ + destinations_.size(), nullptr);
  const bool may_wait = net_.waits() && (busy(view) || later_);
  if (!options_.empty() && (may_wait || places_ == 0)) options_.push_back(nullptr);
}

void Marl::fill_rows(const View& view, const Wish& wish, const JobView& job) {
  rows_.resize(options_.size() * Features::kRow);
  const double alone = best_alone(wish);
  for (std::size_t i = 0; i < options_.size(); ++i) {
    const std::span<float> row = std::span(rows_).subspan(i * Features::kRow, Features::kRow);
    if (i == 0) {
      situation_features(view, candidates_, remaining_, wish, job, queue_of(wish),
                         row.first(Features::kSituation));
    } else {
      std::copy_n(rows_.begin(), Features::kSituation, row.begin());
    }
    option_features(view, candidates_, remaining_, wish, alone, options_[i],
                    row.subspan(Features::kSituation, Features::kOption));
    crossed_features(row.first(Features::kSituation),
                     row.subspan(Features::kSituation, Features::kOption),
                     row.subspan(Features::kSituation + Features::kOption, Features::kCrossed));
    std::ranges::fill(row.subspan(Features::kForwardAt, Features::kForward), 0.0F);
    const std::span<float> embeddings = row.subspan(Features::kOwn);
    std::ranges::fill(embeddings, 0.0F);
    if (!encoder_) continue;
    if (options_[i] != nullptr)
      encoder_->place(view.topology, options_[i]->placement, embeddings.first(EncoderNet::kPlace));
    std::ranges::copy(encoder_->partition(), embeddings.begin() + EncoderNet::kPlace);
    const auto others = embeddings.subspan(EncoderNet::kPlace + EncoderNet::kWidth);
    if (i < places_ || i >= places_ + destinations_.size()) {
      std::ranges::copy(others_, others.begin());
    } else {
      add_summary(destinations_[i - places_].summary, 1, others);
    }
  }
  fill_forwards(wish, job, alone);
}

void Marl::fill_forwards(const Wish& wish, const JobView& job, double best) {
  if (destinations_.empty()) return;
  const auto row = [&](std::size_t i) {
    return std::span(rows_).subspan(i * Features::kRow + Features::kForwardAt, Features::kForward);
  };
  for (std::size_t i = 0; i < destinations_.size(); ++i)
    forward_features(job, destinations_[i], best, queue_, row(places_ + i));
  const auto mark = [&](const Destination* to, std::size_t feature) {
    if (to != nullptr)
      row(places_ + static_cast<std::size_t>(to - destinations_.data()))[feature] = 1;
  };
  std::optional<std::int64_t> least;
  const double enough = Features::kMinimumGain * wish.gpus * best * static_cast<double>(kGpu);
  for (std::size_t i = 0; i < places_; ++i) {
    const Candidate& place = *options_[i];
    if (static_cast<double>(place.gain) >= enough && (!least || place.slowdown < *least))
      least = place.slowdown;
  }
  if (least) mark(better_elsewhere(wish, least), Features::kRuleFaster);
  mark(better_elsewhere(wish, std::nullopt), Features::kRuleWaits);
}

PlacementPolicy::Answer Marl::choose(const View& view, const Wish& wish, const JobView& job) {
  find_options(view, wish);
  if (options_.empty()) return std::nullopt;
  if (encoder_) encoder_->sync(view, candidates_);
  synced_ = encoder_.has_value();
  fill_rows(view, wish, job);
  scores_.resize(options_.size());
  net_.score(rows_, scores_);
  const bool sane = std::ranges::all_of(scores_, [](float x) { return std::isfinite(x); });
  const Choice choice{
      view,     wish,  job,     candidates_,  remaining_, encoder_ ? &*encoder_ : nullptr,
      options_, rows_, scores_, destinations_};
  std::size_t best = 0;
  if (!sane) {
    best = thresholded_choice(choice, Features::kMinimumGain);
  } else if (chooser_ != nullptr) {
    best = chooser_->choose(choice);
  } else {
    best = best_of(scores_);
  }
  reasons_.note(job.spec->id, view.now, remaining_.left(job, view.now), options_, destinations_,
                scores_, best);
  if (const Destination* there = choice.destination(best)) return Answer(there);
  if (options_[best] == nullptr) return std::nullopt;
  return options_[best]->placement;
}

void find_places(Candidates& candidates, const Wish& wish, std::vector<const Candidate*>& places) {
  places = candidates.exclusive(wish);
  for (const Candidate* candidate : candidates.shared(wish)) {
    const auto same = [&](const Candidate* c) { return c->placement == candidate->placement; };
    if (std::none_of(places.begin(), places.end(), same)) places.push_back(candidate);
  }
}

std::size_t Choice::places() const {
  const auto none = std::ranges::find(options, nullptr);
  return static_cast<std::size_t>(none - options.begin());
}

const Destination* Choice::destination(std::size_t option) const {
  const std::size_t first = places();
  return option >= first && option - first < destinations.size() ? &destinations[option - first]
                                                                 : nullptr;
}

std::size_t best_of(std::span<const float> scores) {
  return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
}

std::size_t thresholded_choice(const Choice& choice, double threshold) {
  constexpr std::size_t net_gain = Features::kSituation + 3;
  const bool may_wait = choice.may_wait();
  const auto ruled = [&](std::size_t feature) -> std::optional<std::size_t> {
    for (std::size_t i = choice.places(); i < choice.places() + choice.destinations.size(); ++i) {
      if (choice.rows[i * Features::kRow + Features::kForwardAt + feature] > 0) return i;
    }
    return std::nullopt;
  };
  if (const auto faster = ruled(Features::kRuleFaster)) return *faster;
  std::size_t best = choice.options.size() - 1;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < choice.options.size(); ++i) {
    const Candidate* option = choice.options[i];
    if (option == nullptr) continue;
    const float net = choice.rows[i * Features::kRow + net_gain];
    if (may_wait && net < static_cast<float>(threshold)) continue;
    if (option->slowdown >= least) continue;
    least = option->slowdown;
    best = i;
  }
  if (best >= choice.places()) return ruled(Features::kRuleWaits).value_or(best);
  return best;
}

}  // namespace starling
