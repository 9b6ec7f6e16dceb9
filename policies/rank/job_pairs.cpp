// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/job_pairs.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

namespace starling {
namespace {

class Pairing {
 public:
  Pairing(std::span<const PairJob> jobs, const PairRateOf& rates, const std::vector<bool>& held)
      : jobs_(jobs), rates_(rates), held_(held), taken_(jobs.size(), false) {
    std::map<std::pair<Size, std::uint32_t>, Group> groups;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const PairJob& job = jobs[i];
      if (job.hosts && job.has.gpus > 0)
        groups[{{job.priority, job.has.type, job.has.gpus}, job.kind}].members.push_back(i);
    }
    for (auto& [key, group] : groups) {
      const auto worth = [this](std::size_t i) { return jobs_[i].each * jobs_[i].has.speed; };
      std::ranges::stable_sort(group.members, {}, worth);
      group.kind = key.second;
      group.least = worth(group.members.front());
      if (hosts_.empty() || hosts_.back().size != key.first) hosts_.push_back({key.first});
      hosts_.back().groups.push_back(std::move(group));
    }
    for (Hosts& hosts : hosts_) {
      std::ranges::stable_sort(hosts.groups, {}, &Group::least);
    }
  }

  std::vector<JobPair> choose() {
    std::priority_queue<Entry> heap;
    for (std::size_t g = 0; g < jobs_.size(); ++g) {
      if (!jobs_[g].joins) continue;
      if (const auto pair = best_for(g)) heap.push({*pair});
    }
    std::vector<JobPair> chosen;
    while (!heap.empty()) {
      const JobPair pair = heap.top().pair;
      heap.pop();
      if (taken_[pair.guest]) continue;
      if (taken_[pair.host]) {
        if (const auto next = best_for(pair.guest)) heap.push({*next});
        continue;
      }
      taken_[pair.host] = taken_[pair.guest] = true;
      chosen.push_back(pair);
    }
    return chosen;
  }

 private:
  using Size = std::tuple<std::int32_t, std::uint32_t, std::uint32_t>;  // priority, type, GPUs
  /// Of one kind; whose speed is worth least first.
  struct Group {
    std::vector<std::size_t> members = {};
    std::uint32_t kind = 0;
    double least = 0;       // that a member's speed was worth at first
    std::size_t first = 0;  // before it all are taken
  };
  /// Those of one size.
  struct Hosts {
    Size size;
    std::vector<Group> groups = {};
    std::size_t first = 0;  // before it all are taken
    /// By kind of guest, what it and each group keep; `one` below 0: not asked yet.
    std::vector<std::vector<PairRate>> rates = {};
  };
  struct Entry {
    JobPair pair;
    bool operator<(const Entry& b) const {
      return pair.gain != b.pair.gain ? pair.gain < b.pair.gain : pair.guest > b.pair.guest;
    }
  };

  [[nodiscard]] double speed_at(const PairJob& guest, std::uint32_t type,
                                std::uint32_t gpus) const {
    if (guest.now.gpus == gpus && guest.now.type == type) return guest.now.speed * guest.moved;
    if (type >= guest.sizes.size()) return 0;
    const auto list = guest.sizes[type];
    const auto at = std::ranges::lower_bound(list, gpus, {}, &RankSize::gpus);
    return at != list.end() && at->gpus == gpus ? at->speed : 0;
  }

  void consider(std::optional<JobPair>& best, std::size_t g, std::size_t h, double speed,
                PairRate rate) const {
    if (rate.one <= 0) return;
    const PairJob &guest = jobs_[g], &host = jobs_[h];
    const double gain =
        guest.each * speed * rate.one - host.each * host.has.speed * (1 - rate.other) - guest.alone;
    if (gain > (best ? best->gain : 0))
      best = {h, g, host.has.type, host.has.gpus, gain, host.has.speed};
  }

  [[nodiscard]] PairRate rate_of(Hosts& hosts, std::size_t group, std::uint32_t guest) const {
    if (hosts.rates.size() <= guest) hosts.rates.resize(guest + 1);
    auto& row = hosts.rates[guest];
    if (row.empty()) row.assign(hosts.groups.size(), {-1, 0});
    if (row[group].one < 0) {
      const auto [priority, type, gpus] = hosts.size;
      row[group] = rates_(guest, hosts.groups[group].kind, type, gpus);
    }
    return row[group];
  }

  [[nodiscard]] std::optional<JobPair> best_for(std::size_t g) {
    const PairJob& guest = jobs_[g];
    std::optional<JobPair> best;
    if (guest.beside && !taken_[*guest.beside]) {
      const PairJob& host = jobs_[*guest.beside];
      if (host.hosts && host.has.gpus == guest.now.gpus && host.has.type == guest.now.type &&
          host.priority == guest.priority)
        consider(best, g, *guest.beside, guest.now.speed,
                 rates_(guest.kind, host.kind, host.has.type, host.has.gpus));
    }
    for (Hosts& hosts : hosts_) {
      const auto [priority, type, gpus] = hosts.size;
      if (priority != guest.priority) continue;
      const double speed = speed_at(guest, type, gpus);
      // No host loses less than nothing.
      if (guest.each * speed - guest.alone <= (best ? best->gain : 0)) continue;
      if (guest.for_good && type < held_.size() && held_[type]) continue;
      look_at(best, g, hosts, speed);
    }
    return best;
  }

  void look_at(std::optional<JobPair>& best, std::size_t g, Hosts& hosts, double speed) {
    std::size_t tried = 0;
    for (std::size_t k = hosts.first; k < hosts.groups.size() && tried < kMostKindsTried; ++k) {
      Group& group = hosts.groups[k];
      if (const auto host = first_of(group, g))
        consider(best, g, *host, speed, rate_of(hosts, k, jobs_[g].kind)), ++tried;
      if (k == hosts.first && group.first == group.members.size()) ++hosts.first;
    }
  }

  /// The first of the group that is not taken, nor `guest` itself.
  [[nodiscard]] std::optional<std::size_t> first_of(Group& group, std::size_t guest) const {
    auto& members = group.members;
    while (group.first < members.size() && taken_[members[group.first]]) ++group.first;
    std::size_t at = group.first;
    while (at < members.size() && (taken_[members[at]] || members[at] == guest)) ++at;
    return at < members.size() ? std::optional(members[at]) : std::nullopt;
  }

  std::span<const PairJob> jobs_;
  const PairRateOf& rates_;
  const std::vector<bool>& held_;
  std::vector<bool> taken_;
  std::vector<Hosts> hosts_;  // by size
};

}  // namespace

std::vector<JobPair> choose_pairs(std::span<const PairJob> jobs, const PairRateOf& rates,
                                  const std::vector<bool>& held) {
  return Pairing(jobs, rates, held).choose();
}

}  // namespace starling
