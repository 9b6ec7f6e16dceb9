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
    const auto worth = [this](std::size_t i) { return jobs_[i].each * jobs_[i].has.speed; };
    std::map<std::pair<Size, std::uint32_t>, Group> groups;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const PairJob& job = jobs[i];
      if (job.hosts && job.has.gpus > 0)
        groups[{{job.priority, job.has.type, job.has.gpus}, job.kind}].members.push_back(i);
    }
    for (auto& [key, group] : groups) {
      std::ranges::stable_sort(group.members, {}, worth);
      hosts_[key.first].groups.push_back(std::move(group));
    }
    for (auto& [size, hosts] : hosts_) {
      std::ranges::stable_sort(hosts.groups, {},
                               [&](const Group& group) { return worth(group.members.front()); });
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
    std::vector<std::size_t> members;
    std::size_t first = 0;  // before it all are taken
  };
  struct Hosts {
    std::vector<Group> groups;
    std::size_t first = 0;  // before it all are taken
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

  [[nodiscard]] double gain_of(std::size_t g, std::size_t h, double speed) const {
    const PairJob &guest = jobs_[g], &host = jobs_[h];
    const PairRate rate = rates_(guest.kind, host.kind, host.has.type, host.has.gpus);
    if (rate.one <= 0) return 0;
    return guest.each * speed * rate.one - host.each * host.has.speed * (1 - rate.other) -
           guest.alone;
  }

  void consider(std::optional<JobPair>& best, std::size_t g, std::size_t h, double speed) const {
    const double gain = gain_of(g, h, speed);
    if (gain > (best ? best->gain : 0)) best = {h, g, jobs_[h].has.type, jobs_[h].has.gpus, gain};
  }

  [[nodiscard]] std::optional<JobPair> best_for(std::size_t g) {
    const PairJob& guest = jobs_[g];
    std::optional<JobPair> best;
    if (guest.beside && !taken_[*guest.beside]) {
      const RankGrant& there = jobs_[*guest.beside].has;
      if (jobs_[*guest.beside].hosts && there.gpus == guest.now.gpus &&
          there.type == guest.now.type && jobs_[*guest.beside].priority == guest.priority)
        consider(best, g, *guest.beside, guest.now.speed);
    }
    for (auto& [key, hosts] : hosts_) {
      const auto [priority, type, gpus] = key;
      if (priority != guest.priority) continue;
      const double speed = speed_at(guest, type, gpus);
      if (speed <= 0 || (guest.for_good && type < held_.size() && held_[type])) continue;
      std::size_t tried = 0;
      for (std::size_t k = hosts.first; k < hosts.groups.size() && tried < kMostKindsTried; ++k) {
        const auto host = first_of(hosts.groups[k], g);
        if (host) consider(best, g, *host, speed), ++tried;
        if (k == hosts.first && hosts.groups[k].first == hosts.groups[k].members.size())
          ++hosts.first;
      }
    }
    return best;
  }

  /// The first of the group that is not taken, nor `guest` itself.
  [[nodiscard]] std::optional<std::size_t> first_of(Group& group, std::size_t guest) const {
    auto& [members, first] = group;
    while (first < members.size() && taken_[members[first]]) ++first;
    std::size_t at = first;
    while (at < members.size() && (taken_[members[at]] || members[at] == guest)) ++at;
    return at < members.size() ? std::optional(members[at]) : std::nullopt;
  }

  std::span<const PairJob> jobs_;
  const PairRateOf& rates_;
  const std::vector<bool>& held_;
  std::vector<bool> taken_;
  std::map<Size, Hosts> hosts_;
};

}  // namespace

std::vector<JobPair> choose_pairs(std::span<const PairJob> jobs, const PairRateOf& rates,
                                  const std::vector<bool>& held) {
  return Pairing(jobs, rates, held).choose();
}

}  // namespace starling
