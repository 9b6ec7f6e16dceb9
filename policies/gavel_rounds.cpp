#include "policies/gavel_rounds.h"

#include <algorithm>
#include <tuple>

namespace starling {

GavelRounds::GavelRounds(std::size_t types, Duration round)
    : types_(types), head_start_(seconds(round) / 2), type_time_(types, 0.0) {}

void GavelRounds::enter(JobId job) {
  accounts_.try_emplace(
      job, Account{std::vector<double>(types_, head_start_), std::vector<double>(types_, 0.0), {}});
}

void GavelRounds::leave(JobId job) { accounts_.erase(job); }

void GavelRounds::receive(JobId job, std::size_t type, Duration time) {
  type_time_[type] += seconds(time);
  const auto account = accounts_.find(job);
  if (account != accounts_.end()) account->second.received[type] += seconds(time);
}

void GavelRounds::reset(Instant now, std::map<JobId, std::vector<double>> allocation) {
  const double elapsed = seconds(now - last_reset_);
  std::fill(type_time_.begin(), type_time_.end(), 0.0);
  for (auto& [job, account] : accounts_) {
    for (std::size_t t = 0; t < types_; ++t) {
      const double due = account.allocation.empty() ? 0 : account.allocation[t] * elapsed;
      account.deficit[t] += due - (account.received[t] - head_start_);
      account.received[t] = head_start_;
      type_time_[t] += head_start_;
    }
    const auto given = allocation.find(job);
    account.allocation = given == allocation.end() ? std::vector<double>{} : given->second;
  }
  last_reset_ = now;
}

std::vector<GavelRounds::Pick> GavelRounds::pick(std::span<const Candidate> candidates,
                                                 std::vector<std::uint32_t> gpus,
                                                 std::span<const std::size_t> order,
                                                 bool allocated_only) const {
  struct Entry {
    double priority, deficit, allocation;
    std::size_t candidate;
  };
  std::vector<Pick> out;
  std::vector<bool> taken(candidates.size(), false);
  for (const std::size_t type : order) {
    std::vector<Entry> entries;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const Candidate& candidate = candidates[c];
      const auto account = accounts_.find(candidate.job);
      if (taken[c] || candidate.speed[type] <= 0 || account == accounts_.end()) continue;
      const Account& a = account->second;
      const double allocation = a.allocation.empty() ? 0 : a.allocation[type];
      // Below this it is what an interior-point method leaves of a zero.
      const double share = allocation < 1e-9 ? 0 : allocation;
      const double priority =
          type_time_[type] > 0 ? share * type_time_[type] / a.received[type] : share * 1e9;
      if (allocated_only && share <= 0) continue;
      entries.push_back({priority, a.deficit[type], share, c});
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.priority, a.deficit, a.allocation) >
             std::tie(b.priority, b.deficit, b.allocation);
    });
    for (const Entry& entry : entries) {
      const std::uint32_t size = candidates[entry.candidate].gpus;
      if (size > gpus[type]) continue;
      gpus[type] -= size;
      taken[entry.candidate] = true;
      out.push_back({entry.candidate, type});
    }
  }
  return out;
}

}  // namespace starling
