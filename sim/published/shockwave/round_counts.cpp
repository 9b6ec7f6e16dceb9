// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/round_counts.h"

#include <algorithm>
#include <limits>
#include <map>

namespace starling {
namespace {

struct Counted {
  double worth = 0;
  std::vector<std::uint32_t> counts;
};

class CountSearch {
 public:
  CountSearch(const std::vector<RoundWorth>& jobs, std::uint32_t room, double per_second)
      : jobs_(jobs), room_(room), per_second_(per_second) {
    double lowest = 0;
    for (const RoundWorth& job : jobs) {
      bounds_.insert(bounds_.end(), job.left_s.begin() + job.least, job.left_s.end());
      lowest = std::max(lowest, job.left_s.back());
    }
    std::erase_if(bounds_, [&](double bound) { return bound < lowest; });
    std::sort(bounds_.begin(), bounds_.end());
    bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
  }

  std::optional<std::vector<std::uint32_t>> best() {
    if (jobs_.empty()) return std::vector<std::uint32_t>{};
    std::size_t low = 0, high = bounds_.size() - 1;
    if (!least(bounds_[high])) return std::nullopt;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (least(bounds_[middle]))
        high = middle;
      else
        low = middle + 1;
    }
    look_at(low);
    look_at(bounds_.size() - 1);
    search(low, bounds_.size() - 1);
    return best_;
  }

 private:
  /// The least numbers under a bound; nothing if they do not fit.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> least(double bound) const {
    std::vector<std::uint32_t> counts;
    std::uint64_t used = 0;
    for (const RoundWorth& job : jobs_) {
      auto at = job.left_s.begin() + job.least;
      while (at != job.left_s.end() && *at > bound) ++at;
      if (at == job.left_s.end()) return std::nullopt;
      counts.push_back(static_cast<std::uint32_t>(at - job.left_s.begin()));
      used += std::uint64_t{1} * counts.back() * job.gpus;
    }
    if (used > room_) return std::nullopt;
    return counts;
  }

  /// The numbers of most worth under a bound.
  [[nodiscard]] std::optional<Counted> table(double bound) const {
    auto from = least(bound);
    if (!from) return std::nullopt;
    std::size_t spare = room_;
    for (std::size_t j = 0; j < jobs_.size(); ++j)
      spare -= std::size_t{1} * (*from)[j] * jobs_[j].gpus;
    std::vector<double> worth(spare + 1, 0), with(spare + 1);
    std::vector<std::vector<std::uint32_t>> count(jobs_.size());
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const RoundWorth& job = jobs_[j];
      const std::uint32_t first = (*from)[j];
      count[j].assign(spare + 1, first);
      for (std::size_t u = 0; u <= spare; ++u) with[u] = worth[u] + job.worth[first];
      for (std::uint32_t c = first + 1; c < job.worth.size(); ++c) {
        const std::size_t more = std::size_t{1} * (c - first) * job.gpus;
        if (more > spare || job.worth[c] <= job.worth[c - 1]) break;
        for (std::size_t u = more; u <= spare; ++u) {
          const double sum = worth[u - more] + job.worth[c];
          if (sum <= with[u]) continue;
          with[u] = sum;
          count[j][u] = c;
        }
      }
      worth.swap(with);
    }
    Counted out{worth[spare], std::move(*from)};
    for (std::size_t j = jobs_.size(), u = spare; j-- > 0;) {
      const std::uint32_t c = count[j][u];
      u -= std::size_t{1} * (c - out.counts[j]) * jobs_[j].gpus;
      out.counts[j] = c;
    }
    return out;
  }

  double look_at(std::size_t bound) {
    const auto [at, fresh] = worth_.try_emplace(bound);
    if (!fresh) return at->second;
    Counted counted = *table(bounds_[bound]);
    at->second = counted.worth;
    const double total = counted.worth - per_second_ * bounds_[bound];
    if (total > best_total_) {
      best_total_ = total;
      best_ = std::move(counted.counts);
    }
    return at->second;
  }

  void search(std::size_t low, std::size_t high) {
    if (high - low < 2) return;
    const double most = look_at(high) - per_second_ * bounds_[low + 1];
    if (most <= best_total_) return;
    const std::size_t middle = (low + high) / 2;
    look_at(middle);
    search(low, middle);
    search(middle, high);
  }

  const std::vector<RoundWorth>& jobs_;
  std::uint32_t room_;
  double per_second_;
  std::vector<double> bounds_;  // on what is left, rising
  std::map<std::size_t, double> worth_;
  double best_total_ = -std::numeric_limits<double>::infinity();
  std::vector<std::uint32_t> best_;
};

}  // namespace

std::optional<std::vector<std::uint32_t>> best_round_counts(const std::vector<RoundWorth>& jobs,
                                                            std::uint32_t room, double per_second) {
  return CountSearch(jobs, room, per_second).best();
}

}  // namespace starling
