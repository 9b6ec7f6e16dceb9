// SPDX-License-Identifier: Apache-2.0
#include "policies/sia/sia_grants.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "workload/requirements.h"

namespace starling {
namespace {

class Placing {
 public:
  Placing(Occupancy& planned, std::vector<SiaGrant>& grants, const SiaFinder& find)
      : planned_(planned), grants_(grants), find_(find) {}

  void run() {
    for (std::size_t i = 0; i < grants_.size(); ++i) {
      if (grants_[i].stays) {
        take(i, grants_[i].job->placement);
      } else {
        queue(i);
      }
    }
    while (!queue_.empty()) {
      const std::size_t i = queue_.begin()->second;
      queue_.erase(queue_.begin());
      auto found = find_(planned_, grants_[i]);
      if (!found) found = find_with_room_made(i);
      if (found) take(i, *std::move(found));
    }
  }

 private:
  /// A server, and which would leave it.
  struct Cleared {
    std::uint32_t left = 0;  // GPUs
    ServerId id;
    std::vector<std::size_t> who;
    friend bool operator<(const Cleared& a, const Cleared& b) {
      return std::tie(a.left, a.id) < std::tie(b.left, b.id);
    }
  };

  /// The largest first, of one size in the order of the grants.
  void queue(std::size_t i) { queue_.emplace(-std::int64_t{grants_[i].gpus}, i); }
  void take(std::size_t i, Placement place) {
    planned_.take(place, demand_of(*grants_[i].job->spec));
    grants_[i].place = std::move(place);
  }
  void leave(std::size_t i) {
    planned_.give_back(*grants_[i].place, demand_of(*grants_[i].job->spec));
    grants_[i].place.reset();
  }

  std::optional<Placement> find_with_room_made(std::size_t i) {
    const std::vector<std::size_t> who = who_leaves(grants_[i]);
    if (who.empty()) return std::nullopt;
    for (const std::size_t other : who) leave(other);
    auto found = find_(planned_, grants_[i]);
    for (const std::size_t other : who) {
      if (!found) {
        take(other, grants_[other].job->placement);
        continue;
      }
      grants_[other].stays = false;
      queue(other);
    }
    return found;
  }

  /// Smaller ones that stay, each on one server, by server.
  std::map<ServerId, std::vector<std::size_t>> may_leave(const SiaGrant& for_whom) const {
    std::map<ServerId, std::vector<std::size_t>> out;
    const Topology& topology = planned_.topology();
    for (std::size_t i = 0; i < grants_.size(); ++i) {
      const SiaGrant& grant = grants_[i];
      if (!grant.stays || grant.type != for_whom.type || grant.gpus >= for_whom.gpus) continue;
      const ServerId first = topology.server_of(grant.place->front());
      if (topology.server_of(grant.place->back()) == first) out[first].push_back(i);
    }
    for (auto& [server, who] : out)
      std::ranges::stable_sort(who, {}, [&](std::size_t i) { return grants_[i].gpus; });
    return out;
  }

  std::vector<std::size_t> who_leaves(const SiaGrant& grant) const {
    const auto movable = may_leave(grant);
    std::uint32_t largest = 0;
    for (std::uint32_t s = planned_.servers().first; s < planned_.servers().last; ++s) {
      const Server& server = planned_.topology().server(ServerId{s});
      if (server.gpu_type == grant.type) largest = std::max(largest, server.gpus.size());
    }
    if (grant.gpus > largest) return who_leaves_whole_servers(grant, movable);
    std::optional<Cleared> best;
    for (const auto& [id, who] : movable) {
      Cleared server{0, id, {}};
      std::uint32_t free = planned_.free_on(id);
      for (std::size_t k = 0; k < who.size() && free < grant.gpus; ++k) {
        server.who.push_back(who[k]);
        server.left += grants_[who[k]].gpus;
        free += grants_[who[k]].gpus;
      }
      if (free >= grant.gpus && (!best || server < *best)) best = std::move(server);
    }
    return best ? best->who : std::vector<std::size_t>{};
  }

  /// As many servers as it needs on which no other is.
  std::vector<std::size_t> who_leaves_whole_servers(
      const SiaGrant& grant, const std::map<ServerId, std::vector<std::size_t>>& movable) const {
    std::vector<Cleared> whole;
    for (std::uint32_t s = planned_.servers().first; s < planned_.servers().last; ++s) {
      const ServerId id{s};
      const Server& there = planned_.topology().server(id);
      if (there.gpu_type != grant.type || there.gpus.size() == 0) continue;
      Cleared server{0, id, {}};
      if (const auto who = movable.find(id); who != movable.end()) server.who = who->second;
      for (const std::size_t i : server.who) server.left += grants_[i].gpus;
      if (planned_.free_on(id) + server.left == there.gpus.size())
        whole.push_back(std::move(server));
    }
    std::sort(whole.begin(), whole.end());
    std::vector<std::size_t> out;
    std::uint32_t gpus = 0;
    for (const Cleared& server : whole) {
      if (gpus >= grant.gpus) break;
      gpus += planned_.topology().server(server.id).gpus.size();
      out.insert(out.end(), server.who.begin(), server.who.end());
    }
    return gpus >= grant.gpus ? out : std::vector<std::size_t>{};
  }

  Occupancy& planned_;
  std::vector<SiaGrant>& grants_;
  const SiaFinder& find_;
  std::set<std::pair<std::int64_t, std::size_t>> queue_;  // of grants
};

}  // namespace

void place_grants(Occupancy& planned, std::vector<SiaGrant>& grants, const SiaFinder& find) {
  Placing(planned, grants, find).run();
}

}  // namespace starling
