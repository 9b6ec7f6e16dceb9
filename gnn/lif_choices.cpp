// SPDX-License-Identifier: Apache-2.0
#include "gnn/lif_choices.h"

#include <algorithm>

namespace starling {

void LifChoices::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  if (chooser_ != nullptr) chooser_->begin(view);
  PlacementPolicy::start_here(view, trial, out);
}

PlacementPolicy::Answer LifChoices::choose(const View& view, const Wish& wish, const JobView& job) {
  find_places(candidates_, wish, options_);
  if (options_.empty()) return std::nullopt;
  const bool picky = threshold_ > 0 && busy(view);
  const double whole = wish.gpus * candidates_.alone(wish, empty()) * static_cast<double>(kGpu);
  scores_.clear();
  for (const Candidate* candidate : options_) {
    const auto gain = static_cast<double>(candidate->gain);
    const bool good = !picky || gain >= threshold_ * whole;
    const double slowdown = static_cast<double>(candidate->slowdown) / static_cast<double>(kGpu);
    const double score =
        good ? 1 / (1 + std::max(slowdown, 0.0)) : std::min(gain / std::max(whole, 1.0), 1.0) - 1;
    scores_.push_back(static_cast<float>(score));
  }
  if (busy(view)) {
    options_.push_back(nullptr);
    scores_.push_back(0);
  }
  const std::size_t best =
      chooser_ != nullptr
          ? chooser_->choose(
                {view, wish, job, candidates_, remaining_, nullptr, options_, {}, scores_})
          : best_of(scores_);
  if (options_[best] == nullptr) return std::nullopt;
  return options_[best]->placement;
}

}  // namespace starling
