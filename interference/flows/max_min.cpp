// SPDX-License-Identifier: Apache-2.0
#include "interference/flows/max_min.h"

#include <algorithm>

#include "base/check.h"

namespace starling {

MaxMin::MaxMin(std::vector<double> capacities) : links_(capacities.size()) {
  for (std::size_t i = 0; i < capacities.size(); ++i) links_[i].capacity = capacities[i];
}

void MaxMin::add(std::uint32_t gang, double demand, std::span<const LinkUse> uses) {
  if (gang >= gangs_.size()) gangs_.resize(gang + 1);
  Gang& its = gangs_[gang];
  STARLING_CHECK(!its.in && demand > 0);
  its.in = true;
  its.demand = its.rate = demand;
  its.uses.assign(uses.begin(), uses.end());
  for (const LinkUse& use : uses) {
    std::vector<Member>& members = links_[use.link].members;
    const auto at = std::lower_bound(members.begin(), members.end(), gang,
                                     [](const Member& m, std::uint32_t g) { return m.gang < g; });
    members.insert(at, {gang, use.weight});
  }
  find_tight(uses);
  find_coupled(gang);
  solve();
  std::erase(changed_, gang);
}

void MaxMin::remove(std::uint32_t gang) {
  STARLING_CHECK(contains(gang));
  Gang& its = gangs_[gang];
  find_coupled(gang);
  std::erase(coupled_, gang);
  its.in = false;
  for (const LinkUse& use : its.uses) {
    std::erase_if(links_[use.link].members, [&](const Member& m) { return m.gang == gang; });
  }
  find_tight(its.uses);
  std::erase_if(coupling_, [&](std::uint32_t link) { return !links_[link].tight; });
  solve();
}

double MaxMin::load(std::uint32_t link) const noexcept {
  double used = 0;
  for (const Member& member : links_[link].members)
    used += member.weight * gangs_[member.gang].rate;
  return used / links_[link].capacity;
}

// Summed in the order of gangs, so that it is the same whichever came first.
void MaxMin::find_tight(std::span<const LinkUse> uses) {
  for (const LinkUse& use : uses) {
    Link& link = links_[use.link];
    double asked = 0;
    for (const Member& member : link.members) asked += member.weight * gangs_[member.gang].demand;
    link.tight = asked > link.capacity;
  }
}

void MaxMin::find_coupled(std::uint32_t gang) {
  ++mark_;
  coupled_.assign(1, gang);
  coupling_.clear();
  gangs_[gang].mark = mark_;
  for (std::size_t i = 0; i < coupled_.size(); ++i) {
    for (const LinkUse& use : gangs_[coupled_[i]].uses) {
      Link& link = links_[use.link];
      if (!link.tight || link.mark == mark_) continue;
      link.mark = mark_;
      coupling_.push_back(use.link);
      for (const Member& member : link.members) {
        if (gangs_[member.gang].mark == mark_) continue;
        gangs_[member.gang].mark = mark_;
        coupled_.push_back(member.gang);
      }
    }
  }
  std::sort(coupled_.begin(), coupled_.end());
  std::sort(coupling_.begin(), coupling_.end());
}

double MaxMin::level_of(const Link& link) const noexcept {
  return std::max(link.left, 0.0) / link.weight;
}

void MaxMin::freeze(std::uint32_t gang, double rate) {
  Gang& its = gangs_[gang];
  its.rate = rate;
  its.frozen = true;
  for (const LinkUse& use : its.uses) {
    Link& link = links_[use.link];
    if (!link.tight) continue;
    link.left -= rate * use.weight;
    link.weight -= use.weight;
    --link.active;
  }
}

// The water rises until a demand is met or a link is full; the gangs that this concerns stay there.
void MaxMin::solve() {
  before_.clear();
  for (const std::uint32_t gang : coupled_) {
    before_.push_back(gangs_[gang].rate);
    gangs_[gang].frozen = false;
  }
  const auto higher = [](const Level& a, const Level& b) {
    return a.rate != b.rate ? a.rate > b.rate : a.link > b.link;
  };
  levels_.clear();
  for (const std::uint32_t i : coupling_) {
    Link& link = links_[i];
    link.left = link.capacity;
    link.weight = 0;
    link.active = static_cast<std::uint32_t>(link.members.size());
    for (const Member& member : link.members) link.weight += member.weight;
    levels_.push_back({level_of(link), i});
  }
  std::make_heap(levels_.begin(), levels_.end(), higher);
  by_demand_ = coupled_;
  std::sort(by_demand_.begin(), by_demand_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return gangs_[a].demand != gangs_[b].demand ? gangs_[a].demand < gangs_[b].demand : a < b;
  });
  auto next = by_demand_.begin();
  while (next != by_demand_.end()) {
    const std::uint32_t gang = *next;
    if (gangs_[gang].frozen) {
      ++next;
      continue;
    }
    if (levels_.empty() || gangs_[gang].demand <= levels_.front().rate) {
      freeze(gang, gangs_[gang].demand);
      continue;
    }
    std::pop_heap(levels_.begin(), levels_.end(), higher);
    const Level lowest = levels_.back();
    levels_.pop_back();
    const Link& link = links_[lowest.link];
    if (link.active == 0) continue;
    // What was frozen since may have left more for each of the others.
    if (const double level = level_of(link); level > lowest.rate) {
      levels_.push_back({level, lowest.link});
      std::push_heap(levels_.begin(), levels_.end(), higher);
      continue;
    }
    for (const Member& member : link.members) {
      if (!gangs_[member.gang].frozen) freeze(member.gang, lowest.rate);
    }
  }
  changed_.clear();
  for (std::size_t i = 0; i < coupled_.size(); ++i) {
    if (gangs_[coupled_[i]].rate != before_[i]) changed_.push_back(coupled_[i]);
  }
}

}  // namespace starling
