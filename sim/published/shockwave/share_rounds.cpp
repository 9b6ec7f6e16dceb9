// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/share_rounds.h"

#include <algorithm>
#include <tuple>

namespace starling {
namespace {

constexpr double kHeadStart_s = 60;  // half a round, so that who has not run yet has run a little
constexpr double kRecompute_s = 1'000;  // at least between two computations of shares

}  // namespace

void ShareRounds::added(std::size_t job, const RoundView& /*view*/) {
  accounts_[job].ran_s = kHeadStart_s;
  stale_ = true;
}

void ShareRounds::ran(std::size_t job, const RoundRan& what, const RoundView& /*view*/) {
  if (what.failed) {
    stale_ = true;
    return;
  }
  accounts_.at(job).ran_s += what.seconds;
  all_ran_s_ += what.seconds;
}

void ShareRounds::removed(std::size_t job) {
  accounts_.erase(job);
  stale_ = true;
}

double ShareRounds::share_of(std::size_t job) const {
  const auto found = shares_.find(job);
  return found == shares_.end() ? 0 : found->second;
}

void ShareRounds::update(const RoundView& view) {
  const double since = view.now_s - computed_s_;
  if (stale_ && (since >= kRecompute_s || computed_s_ == 0)) {
    all_ran_s_ = 0;
    for (auto& [job, account] : accounts_) {
      account.owed_s += share_of(job) * since - (account.ran_s - kHeadStart_s);
      account.ran_s = kHeadStart_s;
      all_ran_s_ += account.ran_s;
    }
    computed_s_ = view.now_s;
    shares_ = share_(view);
    stale_ = false;
  }
  for (auto& [job, account] : accounts_) {
    const double part = all_ran_s_ > 0 ? account.ran_s / all_ran_s_ : 0;
    account.priority = part > 0 ? share_of(job) / part : share_of(job) * 1e9;
  }
}

std::vector<std::size_t> ShareRounds::choose(const RoundView& view) {
  update(view);
  std::vector<std::size_t> order;
  for (const auto& [job, account] : accounts_) order.push_back(job);
  const auto key = [&](std::size_t job) {
    const Account& account = accounts_.at(job);
    return std::tuple(account.priority, account.owed_s, share_of(job));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  std::uint32_t left = gpus_;
  std::vector<std::size_t> chosen;
  for (const std::size_t job : order) {
    const std::uint32_t gang = view.jobs.at(job).spec->gpus;
    if (gang > left) continue;
    left -= gang;
    if (shares_.contains(job)) chosen.push_back(job);
  }
  return chosen;
}

}  // namespace starling
