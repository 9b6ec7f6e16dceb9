// SPDX-License-Identifier: Apache-2.0
#include "policies/gavel/gavel_rounds.h"

#include <algorithm>
#include <tuple>

namespace starling {

GavelRounds::GavelRounds(std::size_t types, Duration round)
    : types_(types), head_start_(seconds(round) / 2), type_time_(types, 0.0) {}

void GavelRounds::enter(JobId job) {
  accounts_.try_emplace(
      {job, std::nullopt},
      Account{std::vector<double>(types_, head_start_), std::vector<double>(types_, 0.0), {}});
}

void GavelRounds::leave(JobId job) {
  for (const auto& [who, account] : accounts_) {
    if (!who.second || (who.first != job && *who.second != job)) continue;
    const auto other = accounts_.find({who.first == job ? *who.second : who.first, std::nullopt});
    if (other == accounts_.end()) continue;
    std::vector<double>& its = other->second.allocation;
    its.resize(types_);
    for (std::size_t t = 0; t < account.allocation.size(); ++t) its[t] += account.allocation[t];
  }
  std::erase_if(accounts_, [&](const auto& entry) {
    return entry.first.first == job || entry.first.second == job;
  });
}

void GavelRounds::receive(const GavelCombination& who, std::size_t type, Duration time) {
  type_time_[type] += seconds(time);
  const auto account = accounts_.find(who);
  if (account != accounts_.end()) account->second.received[type] += seconds(time);
}

void GavelRounds::reset(Instant now,
                        const std::map<GavelCombination, std::vector<double>>& allocation) {
  const double elapsed = seconds(now - last_reset_);
  std::fill(type_time_.begin(), type_time_.end(), 0.0);
  std::erase_if(accounts_, [&](const auto& entry) {
    return entry.first.second && !allocation.contains(entry.first);
  });
  for (const auto& [who, shares] : allocation) {
    if (!who.second) continue;
    accounts_.try_emplace(
        who,
        Account{std::vector<double>(types_, head_start_), std::vector<double>(types_, 0.0), {}});
  }
  for (auto& [who, account] : accounts_) {
    for (std::size_t t = 0; t < types_; ++t) {
      const double due = account.allocation.empty() ? 0 : account.allocation[t] * elapsed;
      account.deficit[t] += due - (account.received[t] - head_start_);
      account.received[t] = head_start_;
      type_time_[t] += head_start_;
    }
    const auto given = allocation.find(who);
    account.allocation = given == allocation.end() ? std::vector<double>{} : given->second;
  }
  last_reset_ = now;
}

void GavelRounds::begin_anew() {
  last_reset_ = {};
  std::fill(type_time_.begin(), type_time_.end(), 0.0);
  std::erase_if(accounts_, [](const auto& entry) { return entry.first.second.has_value(); });
  for (auto& [who, account] : accounts_) {
    std::fill(account.received.begin(), account.received.end(), head_start_);
    account.allocation.clear();
  }
}

bool GavelRounds::has_pairs() const {
  return std::ranges::any_of(accounts_,
                             [](const auto& entry) { return entry.first.second.has_value(); });
}

double GavelRounds::priority(const Account& account, std::size_t type) const {
  const double share = account.share(type);
  return type_time_[type] > 0 ? share * type_time_[type] / account.received[type] : share * 1e9;
}

std::vector<GavelRounds::Standing> GavelRounds::standing(const GavelCombination& who) const {
  const auto found = accounts_.find(who);
  if (found == accounts_.end() || found->second.allocation.empty()) return {};
  const Account& account = found->second;
  std::vector<Standing> out;
  for (std::size_t t = 0; t < types_; ++t) {
    out.push_back({account.share(t), account.received[t] - head_start_, account.deficit[t],
                   priority(account, t)});
  }
  return out;
}

std::vector<GavelCombination> GavelRounds::pairs_of(JobId job) const {
  std::vector<GavelCombination> out;
  for (const auto& [who, account] : accounts_) {
    if (who.second && (who.first == job || *who.second == job)) out.push_back(who);
  }
  return out;
}

std::vector<GavelRounds::Pick> GavelRounds::pick(std::span<const Candidate> candidates,
                                                 std::vector<std::uint32_t> gpus,
                                                 std::span<const std::size_t> order,
                                                 bool allocated_only) const {
  struct Entry {
    std::int32_t urgency;
    double priority, deficit, allocation;
    std::size_t candidate;
  };
  std::vector<Pick> out;
  std::size_t members = 0;
  for (const Candidate& c : candidates) members = std::max({members, c.members[0], c.members[1]});
  std::vector<bool> taken(members + 1, false);
  const auto is_taken = [&](const Candidate& c) {
    return taken[c.members[0]] || taken[c.members[1]];
  };
  for (const std::size_t type : order) {
    std::vector<Entry> entries;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const Candidate& candidate = candidates[c];
      const auto account = accounts_.find(candidate.who);
      if (is_taken(candidate) || candidate.speed[type] <= 0 || account == accounts_.end()) continue;
      const Account& a = account->second;
      const double share = a.share(type);
      if ((allocated_only || candidate.who.second) && share <= 0) continue;
      entries.push_back({candidate.urgency, priority(a, type), a.deficit[type], share, c});
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.urgency, a.priority, a.deficit, a.allocation) >
             std::tie(b.urgency, b.priority, b.deficit, b.allocation);
    });
    for (const Entry& entry : entries) {
      const Candidate& chosen = candidates[entry.candidate];
      if (chosen.gpus > gpus[type] || is_taken(chosen)) continue;
      gpus[type] -= chosen.gpus;
      taken[chosen.members[0]] = taken[chosen.members[1]] = true;
      out.push_back({entry.candidate, type});
    }
  }
  return out;
}

}  // namespace starling
