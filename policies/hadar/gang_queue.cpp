// SPDX-License-Identifier: Apache-2.0
#include "policies/hadar/gang_queue.h"

#include <algorithm>
#include <map>
#include <utility>

namespace starling {
namespace {

/// What an offer pays for each GPU and round.
double density(const GangJob& job, const GangOffer& offer) {
  return offer.payoff() / (job.gpus() * rounds_of(offer.rest));
}

std::vector<std::size_t> by_density(const GpuMarket& market, std::span<const GangJob> jobs,
                                    std::span<const std::size_t> some) {
  std::vector<std::pair<double, std::size_t>> order;
  for (const std::size_t i : some) {
    if (const auto offer = market.best(jobs[i])) order.emplace_back(density(jobs[i], *offer), i);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& o) { return o.first; });
  std::vector<std::size_t> out;
  out.reserve(order.size());
  for (const auto& [pays, i] : order) out.push_back(i);
  return out;
}

/// Take or skip, job after job; what was found out of a state is kept.
class GangProgramme {
 public:
  GangProgramme(GpuMarket& market, std::span<const GangJob> jobs) : market_(market), jobs_(jobs) {}

  std::vector<ChosenGang> choose() {
    (void)value(0);
    std::vector<ChosenGang> chosen;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const auto known = known_.find({i, market_.state()});
      auto offer = known == known_.end() || known->second.takes ? paying(i) : std::nullopt;
      if (!offer) continue;
      (void)market_.take(jobs_[i], *offer);
      chosen.push_back({i, std::move(*offer)});
    }
    return chosen;
  }

 private:
  struct Known {
    double value = 0;
    bool takes = false;
  };
  [[nodiscard]] std::optional<GangOffer> paying(std::size_t i) const {
    auto offer = market_.best(jobs_[i]);
    return offer && offer->payoff() > 0 ? std::move(offer) : std::nullopt;
  }
  /// The most payoff of jobs from `i` on.
  double value(std::size_t i) {
    if (i == jobs_.size()) return 0;
    const std::pair key{i, market_.state()};
    if (const auto known = known_.find(key); known != known_.end()) return known->second.value;
    const auto offer = paying(i);
    if (!offer) return known_[key].value = value(i + 1);
    const Placement taken = market_.take(jobs_[i], *offer);
    const double with = offer->payoff() + value(i + 1);
    market_.give_back(jobs_[i], *offer, taken);
    const double without = known_.size() < kMostGangStates ? value(i + 1) : 0;
    Known& now = known_[key];
    now.takes = with >= without;
    return now.value = std::max(with, without);
  }

  GpuMarket& market_;
  std::span<const GangJob> jobs_;
  std::map<std::pair<std::size_t, std::vector<double>>, Known> known_;
};

}  // namespace

std::vector<ChosenGang> choose_gangs(GpuMarket& market, std::span<const GangJob> jobs) {
  if (jobs.size() <= kMostPlannedGangs) return GangProgramme(market, jobs).choose();
  std::vector<std::size_t> all(jobs.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::vector<ChosenGang> chosen;
  for (const std::size_t i : by_density(market, jobs, all)) {
    auto offer = market.best(jobs[i]);
    if (!offer || offer->payoff() <= 0) continue;
    (void)market.take(jobs[i], *offer);
    chosen.push_back({i, std::move(*offer)});
  }
  return chosen;
}

void fill_with_gangs(GpuMarket& market, std::span<const GangJob> jobs,
                     std::span<const std::size_t> left, std::vector<ChosenGang>& chosen) {
  for (const std::size_t i : by_density(market, jobs, left)) {
    auto offer = market.best(jobs[i]);
    if (!offer) continue;
    (void)market.take(jobs[i], *offer);
    chosen.push_back({i, std::move(*offer)});
  }
}

}  // namespace starling
