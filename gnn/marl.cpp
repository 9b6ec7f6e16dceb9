#include "gnn/marl.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace starling {

Marl::Marl(const PolicyFacts& facts, const QueueOptions& options, PolicyNet net)
    : PlacementPolicy(options, true),
      facts_(facts),
      net_(std::move(net)),
      others_(EncoderNet::kWidth, 0.0F) {
  if (net_.has_encoder()) encoder_.emplace(net_.encoder());
}

void Marl::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  remaining_.learn(candidates_.residents().ended());
  count_queue();
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

void Marl::find_options(const View& view, const Wish& wish) {
  find_places(candidates_, wish, options_);
  if (!options_.empty() && net_.waits() && busy(view)) options_.push_back(nullptr);
}

void Marl::fill_rows(const View& view, const Wish& wish, const JobView& job) {
  rows_.resize(options_.size() * Features::kRow);
  const double alone = candidates_.alone(wish, empty());
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
    const std::span<float> embeddings = row.subspan(Features::kOwn);
    std::ranges::fill(embeddings, 0.0F);
    if (!encoder_) continue;
    if (options_[i] != nullptr)
      encoder_->place(view.topology, options_[i]->placement, embeddings.first(EncoderNet::kPlace));
    std::ranges::copy(encoder_->partition(), embeddings.begin() + EncoderNet::kPlace);
    std::ranges::copy(others_, embeddings.begin() + EncoderNet::kPlace + EncoderNet::kWidth);
  }
}

std::optional<Placement> Marl::choose(const View& view, const Wish& wish, const JobView& job) {
  find_options(view, wish);
  if (options_.empty()) return std::nullopt;
  if (encoder_) encoder_->sync(view, candidates_);
  fill_rows(view, wish, job);
  scores_.resize(options_.size());
  net_.score(rows_, scores_);
  const bool sane = std::ranges::all_of(scores_, [](float x) { return std::isfinite(x); });
  const Choice choice{view,     wish,  job,    candidates_, encoder_ ? &*encoder_ : nullptr,
                      options_, rows_, scores_};
  std::size_t best = 0;
  if (!sane) {
    best = thresholded_choice(choice, Features::kPicky);
  } else if (chooser_ != nullptr) {
    best = chooser_->choose(choice);
  } else {
    best = best_of(scores_);
  }
  reasons_.note(job.spec->id, view.now, options_, scores_, best);
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

std::size_t best_of(std::span<const float> scores) {
  return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
}

std::size_t thresholded_choice(const Choice& choice, double threshold) {
  constexpr std::size_t net_gain = Features::kSituation + 3;
  const bool may_wait = choice.options.back() == nullptr;
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
  return best;
}

}  // namespace starling
