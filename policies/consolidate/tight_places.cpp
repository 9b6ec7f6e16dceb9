// SPDX-License-Identifier: Apache-2.0
#include "policies/consolidate/tight_places.h"

#include <algorithm>

namespace starling {

template <class F>
void TightPlaces::each_island(std::uint32_t server, F f) const {
  const Topology& topology = gpus_->topology();
  const IndexRange range = topology.servers()[servers_.first + server].gpus;
  for (std::uint32_t gpu = range.first; gpu < range.last;) {
    const std::uint32_t first = gpu;
    const std::uint32_t island = topology.island_of(GpuId{gpu});
    std::uint32_t free = 0;
    for (; gpu < range.last && topology.island_of(GpuId{gpu}) == island; ++gpu) {
      free += gpus_->is_free(GpuId{gpu}) ? 1U : 0U;
    }
    f(first, free);
  }
}

void TightPlaces::follow(const Occupancy& gpus, std::uint32_t server_gpus) {
  gpus_ = &gpus;
  const auto change = [this](std::uint32_t server) { update(server - servers_.first); };
  const bool known = servers_ == gpus.servers() && server_gpus_ == server_gpus &&
                     gpus.changes().since(seen_, change);
  if (!known) build(gpus, server_gpus);
  seen_ = gpus.changes().mark();
}

void TightPlaces::build(const Occupancy& gpus, std::uint32_t server_gpus) {
  servers_ = gpus.servers();
  server_gpus_ = server_gpus;
  const std::uint32_t servers = servers_.size();
  largest_ = static_cast<std::uint32_t>(gpus.sizes().size()) - 1;
  by_free_.assign(std::size_t{largest_ + 1} * (largest_ + 1), BitmapTree());
  by_free_count_.assign(by_free_.size(), 0);
  filed_.assign(servers, {});
  whole_.assign(servers, false);
  whole_in_rack_.clear();
  racks_with_.assign(1, BitmapTree());
  if (servers == 0) return;
  const Topology& topology = gpus.topology();
  first_rack_ = topology.rack_of(ServerId{servers_.first});
  const std::uint32_t racks = topology.rack_of(ServerId{servers_.last - 1}) - first_rack_ + 1;
  whole_in_rack_.assign(racks, 0);
  racks_with_.assign(1, BitmapTree(racks));
  for (std::uint32_t rack = 0; rack < racks; ++rack) racks_with_[0].set(rack);
  for (std::uint32_t s = 0; s < servers; ++s) add(s);
}

void TightPlaces::update(std::uint32_t server) {
  forget(server);
  add(server);
}

void TightPlaces::forget(std::uint32_t server) {
  for (const std::uint32_t at : filed_[server]) {
    by_free_[at].reset(server);
    --by_free_count_[at];
  }
  filed_[server].clear();
}

void TightPlaces::add(std::uint32_t server) {
  const ServerId id{servers_.first + server};
  const std::uint32_t free = gpus_->free_on(id);
  std::vector<std::uint32_t>& filed = filed_[server];
  each_island(server, [&](std::uint32_t, std::uint32_t in_island) {
    if (in_island == 0) return;
    const std::uint32_t at = in_island * (largest_ + 1) + free;
    if (std::find(filed.begin(), filed.end(), at) != filed.end()) return;
    if (by_free_[at].size() == 0) by_free_[at] = BitmapTree(servers_.size());
    by_free_[at].set(server);
    ++by_free_count_[at];
    filed.push_back(at);
  });
  const bool whole = free == server_gpus_ && gpus_->topology().server(id).gpus.size() == free;
  if (whole != whole_[server]) move_rack(server, whole);
}

void TightPlaces::move_rack(std::uint32_t server, bool whole) {
  const std::uint32_t rack =
      gpus_->topology().rack_of(ServerId{servers_.first + server}) - first_rack_;
  std::uint32_t& count = whole_in_rack_[rack];
  racks_with_[count].reset(rack);
  whole ? ++count : --count;
  if (count >= racks_with_.size()) {
    racks_with_.resize(count + 1, BitmapTree(static_cast<std::uint32_t>(whole_in_rack_.size())));
  }
  racks_with_[count].set(rack);
  whole_[server] = whole;
}

std::optional<Placement> TightPlaces::island(std::uint32_t count) const {
  for (std::uint32_t in_island = std::max(count, 1U); in_island <= largest_; ++in_island) {
    for (std::uint32_t free = in_island; free <= largest_; ++free) {
      const std::uint32_t at = in_island * (largest_ + 1) + free;
      if (by_free_count_[at] == 0) continue;
      const std::uint32_t server = by_free_[at].next(0);
      std::optional<Placement> found;
      each_island(server, [&](std::uint32_t first, std::uint32_t here) {
        if (found || here != in_island) return;
        found.emplace();
        for (std::uint32_t gpu = first; found->size() < count; ++gpu) {
          if (gpus_->is_free(GpuId{gpu})) found->push_back(GpuId{gpu});
        }
      });
      return found;
    }
  }
  return std::nullopt;
}

std::optional<Placement> TightPlaces::rack(std::uint32_t count) const {
  for (std::size_t whole = std::max(count, 1U); whole < racks_with_.size(); ++whole) {
    const std::uint32_t rack = racks_with_[whole].next(0);
    if (rack >= racks_with_[whole].size()) continue;
    const Topology& topology = gpus_->topology();
    const IndexRange here = topology.subtrees()[first_rack_ + rack].servers;
    Placement out;
    const std::uint32_t last = std::min(here.last, servers_.last);
    for (std::uint32_t s = std::max(here.first, servers_.first); s < last; ++s) {
      if (!whole_[s - servers_.first]) continue;
      if (out.size() == std::size_t{count} * server_gpus_) break;
      const IndexRange gpus = topology.servers()[s].gpus;
      for (std::uint32_t gpu = gpus.first; gpu < gpus.last; ++gpu) out.push_back(GpuId{gpu});
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace starling
