// SPDX-License-Identifier: Apache-2.0
#include "topology/free_servers.h"

#include <algorithm>

namespace starling {

void FreeServers::build(const Occupancy& gpus) {
  servers_ = gpus.servers();
  const std::uint32_t count = servers_.size();
  const Topology& topology = gpus.topology();
  kinds_.clear();
  kind_of_.assign(count, 0);
  free_.assign(count, 0);
  joinable_.assign(count, 0);
  planned_.assign(gpus.gpus().size(), false);
  planned_list_.clear();
  std::map<GpuTypeId, std::uint32_t> types;
  std::uint32_t largest = 0;
  for (std::uint32_t s = 0; s < count; ++s) {
    const Server& server = topology.server(ServerId{servers_.first + s});
    largest = std::max(largest, server.gpus.size());
    if (server.gpus.size() > 0) types.emplace(server.gpu_type, 0);
  }
  const auto add_kind = [&](GpuTypeId type) {
    Kind kind;
    kind.type = type;
    kind.by_free.assign(largest + 1, BitmapTree(count));
    kind.servers_of.assign(largest + 1, 0);
    kinds_.push_back(std::move(kind));
  };
  add_kind(types.empty() ? GpuTypeId{} : types.begin()->first);
  if (types.size() > 1) {
    for (auto& [type, kind] : types) {
      kind = kinds();
      add_kind(type);
    }
  }
  for (std::uint32_t s = 0; s < count; ++s) {
    const Server& server = topology.server(ServerId{servers_.first + s});
    if (server.gpus.size() > 0 && types.size() > 1) kind_of_[s] = types.at(server.gpu_type);
    kinds_[0].by_free[0].set(s);
    ++kinds_[0].servers_of[server.gpus.size()];
    if (kind_of_[s] == 0) continue;
    kinds_[kind_of_[s]].by_free[0].set(s);
    ++kinds_[kind_of_[s]].servers_of[server.gpus.size()];
  }
}

void FreeServers::sync(const Occupancy& gpus) {
  gpus_ = &gpus;
  if (kinds_.empty() || servers_ != gpus.servers()) build(gpus);
  for (const GpuId gpu : planned_list_) {
    planned_[gpu.value - gpus.gpus().first] = false;
    read(gpus.topology().server_of(gpu).value);
  }
  planned_list_.clear();
  if (!gpus.changes().since(seen_, [this](std::uint32_t server) { read(server); })) {
    for (std::uint32_t s = servers_.first; s < servers_.last; ++s) read(s);
  }
  seen_ = gpus.changes().mark();
}

void FreeServers::read(std::uint32_t server) {
  const std::uint32_t s = server - servers_.first;
  const std::uint32_t free = gpus_->free_on(ServerId{server});
  if (free != free_[s]) move(s, free);
  if (gpus_->jobs_per_gpu() == 1) return;
  const IndexRange range = gpus_->topology().server(ServerId{server}).gpus;
  std::uint32_t joinable = 0;
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    const GpuId gpu{i};
    joinable += gpus_->tenants(gpu) == 1 && gpus_->has_room(gpu) ? 1U : 0U;
  }
  if (joinable == joinable_[s]) return;
  set_open(s, joinable);
  note(s);
}

void FreeServers::take(const Placement& placement) {
  const bool shared = gpus_->jobs_per_gpu() > 1;
  for (const GpuId gpu : placement) {
    if (!gpus_->gpus().contains(gpu.value)) continue;
    const std::uint32_t s = gpus_->topology().server_of(gpu).value - servers_.first;
    const bool free = is_free(gpu);
    planned_[gpu.value - gpus_->gpus().first] = true;
    planned_list_.push_back(gpu);
    if (free) move(s, free_[s] - 1);
    if (!shared) continue;
    set_open(s, free ? joinable_[s] + 1 : joinable_[s] - 1);
    if (!free) note(s);
  }
}

void FreeServers::move(std::uint32_t server, std::uint32_t to) {
  const std::uint32_t from = free_[server];
  const std::uint32_t rack = gpus_->topology().rack_of(ServerId{servers_.first + server});
  const std::uint32_t domain = gpus_->topology().domain_of(ServerId{servers_.first + server});
  const auto in = [&](Kind& kind) {
    kind.by_free[from].reset(server);
    kind.by_free[to].set(server);
    kind.free = kind.free + to - from;
    kind.rack_free[rack] += to - from;
    if (domain != Topology::kNoDomain) kind.domain_free[domain] += to - from;
  };
  in(kinds_[0]);
  if (kind_of_[server] != 0) in(kinds_[kind_of_[server]]);
  free_[server] = to;
  note(server);
}

void FreeServers::set_open(std::uint32_t server, std::uint32_t to) {
  Kind& kind = kinds_[kind_of_[server]];
  kind.open = kind.open + to - joinable_[server];
  joinable_[server] = to;
}

void FreeServers::rooms(std::vector<TypeRoom>& out) const {
  out.clear();
  for (std::uint32_t k = kinds() > 1 ? 1 : 0; k < kinds() && out.size() < kMostTypeRooms; ++k) {
    const Kind& kind = kinds_[k];
    std::uint32_t largest = kind.free == 0 ? 0 : largest_server(k);
    for (; largest > 0; --largest) {
      const BitmapTree& servers = kind.by_free[largest];
      if (servers.next(0) < servers.size()) break;
    }
    out.push_back({kind.type, kind.free, largest, kind.open});
  }
}

void FreeServers::note(std::uint32_t server) {
  changed_.push_back(server);
  ++version_;
}

std::uint32_t FreeServers::piece(const Kind& kind, std::uint32_t worker) const {
  return worker < kind.by_free.size() ? std::max(worker, 1U) : 1;
}

Placement FreeServers::on_islands(const Topology& topology, Placement from, std::uint32_t count) {
  if (from.size() <= count) return from;
  struct Island {
    std::uint32_t first, size;
  };
  std::vector<Island> islands;
  for (std::uint32_t i = 0; i < from.size(); ++i) {
    const bool same = i > 0 && topology.island_of(from[i]) == topology.island_of(from[i - 1]);
    same ? void(++islands.back().size) : islands.push_back({i, 1});
  }
  const Island* best = nullptr;
  for (const Island& island : islands) {
    if (island.size >= count && (best == nullptr || island.size < best->size)) best = &island;
  }
  Placement out;
  if (best != nullptr) {
    out.assign(from.begin() + best->first, from.begin() + best->first + count);
    return out;
  }
  std::stable_sort(islands.begin(), islands.end(),
                   [](const Island& a, const Island& b) { return a.size > b.size; });
  for (const Island& island : islands) {
    const auto part =
        std::min<std::uint32_t>(island.size, count - static_cast<std::uint32_t>(out.size()));
    out.insert(out.end(), from.begin() + island.first, from.begin() + island.first + part);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Placement FreeServers::pick(std::uint32_t server, std::uint32_t count) const {
  const IndexRange range = gpus_->topology().server(ServerId{servers_.first + server}).gpus;
  Placement free;
  for (std::uint32_t i = range.first; i < range.last; ++i) {
    if (is_free(GpuId{i})) free.push_back(GpuId{i});
  }
  return on_islands(gpus_->topology(), std::move(free), count);
}

Placement FreeServers::collect(std::vector<Part> parts) const {
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.server < b.server; });
  Placement out;
  for (const Part& part : parts) {
    const Placement some = pick(part.server, part.gpus);
    out.insert(out.end(), some.begin(), some.end());
  }
  return out;
}

std::optional<Placement> FreeServers::best_fit(std::uint32_t kind, std::uint32_t count) const {
  const auto& by_free = kinds_[kind].by_free;
  for (std::size_t k = count; k < by_free.size(); ++k) {
    const std::uint32_t server = by_free[k].next(0);
    if (server < by_free[k].size()) return pick(server, count);
  }
  return std::nullopt;
}

std::optional<Placement> FreeServers::emptiest(std::uint32_t kind, std::uint32_t count) const {
  const auto& by_free = kinds_[kind].by_free;
  for (std::size_t k = by_free.size(); k-- > count;) {
    const std::uint32_t server = by_free[k].next(0);
    if (server < by_free[k].size()) return pick(server, count);
  }
  return std::nullopt;
}

std::vector<FreeServers::Part> FreeServers::most_free(const Kind& kind, std::uint32_t count,
                                                      std::uint32_t limit) const {
  std::vector<Part> out;
  std::uint32_t found = 0;
  for (auto k = static_cast<std::uint32_t>(kind.by_free.size()); k-- > 1;) {
    const BitmapTree& servers = kind.by_free[k];
    for (std::uint32_t s = servers.next(0); s < servers.size(); s = servers.next(s + 1)) {
      if (out.size() >= limit || found >= count) return out;
      out.push_back({s, k});
      found += k;
    }
  }
  return out;
}

std::optional<Placement> FreeServers::fewest(std::span<const Part> servers, std::uint32_t count,
                                             std::uint32_t worker) const {
  std::vector<Part> parts;
  std::uint32_t left = count;
  for (std::size_t i = 0; i < servers.size() && left > 0; ++i) {
    const std::uint32_t room = whole(servers[i].gpus, worker);
    if (room == 0) return std::nullopt;
    if (room < left) {
      parts.push_back({servers[i].server, room});
      left -= room;
      continue;
    }
    std::size_t best = i;
    for (std::size_t j = i + 1; j < servers.size() && servers[j].gpus >= left; ++j) {
      if (servers[j].gpus < servers[best].gpus) best = j;
    }
    parts.push_back({servers[best].server, left});
    left = 0;
  }
  if (left > 0) return std::nullopt;
  return collect(std::move(parts));
}

std::optional<Placement> FreeServers::tight(std::uint32_t kind, std::uint32_t count,
                                            std::uint32_t worker) const {
  const Kind& k = kinds_[kind];
  if (count > k.free) return std::nullopt;
  if (auto found = best_fit(kind, count)) return found;
  const std::uint32_t one = piece(k, worker);
  // Whole workers may leave GPUs of each server over: then more servers than the count says.
  std::vector<Part> most = most_free(k, one > 1 ? k.free : count, ~0U);
  if (most.empty()) return std::nullopt;
  // The rest may fit a fuller server than those.
  const std::uint32_t least = most.back().gpus;
  for (std::uint32_t f = least; f-- > 1;) {
    const std::uint32_t server = k.by_free[f].next(0);
    if (server < k.by_free[f].size()) most.push_back({server, f});
  }
  return fewest(most, count, one);
}

std::optional<Placement> FreeServers::in_rack(std::uint32_t kind, std::uint32_t count,
                                              std::uint32_t worker) const {
  const Kind& k = kinds_[kind];
  if (count > k.free) return std::nullopt;
  const Topology& topology = gpus_->topology();
  const auto of_domain = [&](std::uint32_t at) { return topology.domains()[at].servers; };
  if (auto found = within(k.domain_free, of_domain, kind, count, worker)) return found;
  const auto of_rack = [&](std::uint32_t at) { return topology.subtrees()[at].servers; };
  return within(k.rack_free, of_rack, kind, count, worker);
}

template <class F>
std::optional<Placement> FreeServers::within(const std::map<std::uint32_t, std::uint32_t>& places,
                                             F range_of, std::uint32_t kind, std::uint32_t count,
                                             std::uint32_t worker) const {
  const std::uint32_t one = piece(kinds_[kind], worker);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> roomy;  // free, place
  for (const auto& [place, free] : places) {
    if (free >= count) roomy.emplace_back(free, place);
  }
  std::sort(roomy.begin(), roomy.end());
  for (const auto& [free, place] : roomy) {
    const IndexRange range = range_of(place);
    std::vector<Part> parts;
    for (std::uint32_t i = std::max(range.first, servers_.first);
         i < std::min(range.last, servers_.last); ++i) {
      const std::uint32_t s = i - servers_.first;
      if (free_[s] > 0 && (kind == 0 || kind_of_[s] == kind)) parts.push_back({s, free_[s]});
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.gpus > b.gpus; });
    if (auto found = fewest(parts, count, one)) return found;
  }
  return std::nullopt;
}

std::optional<Placement> FreeServers::spread(std::uint32_t kind, std::uint32_t count,
                                             std::uint32_t worker) const {
  const Kind& k = kinds_[kind];
  if (count > k.free || count == 0) return std::nullopt;
  const std::uint32_t one = piece(k, worker);
  struct Pile {
    std::uint32_t free, server, taken;
    bool operator<(const Pile& o) const {
      return free != o.free ? free < o.free : server > o.server;
    }
  };
  std::vector<Pile> heap;
  for (const Part& part : most_free(k, k.free, one > 1 ? ~0U : count)) {
    heap.push_back({part.gpus, part.server, 0});
  }
  std::vector<Part> parts;
  std::make_heap(heap.begin(), heap.end());
  for (std::uint32_t left = count; left > 0;) {
    if (heap.empty() || heap.front().free < one || left < one) return std::nullopt;
    std::pop_heap(heap.begin(), heap.end());
    heap.back().free -= one;
    heap.back().taken += one;
    left -= one;
    std::push_heap(heap.begin(), heap.end());
  }
  for (const Pile& pile : heap) {
    if (pile.taken > 0) parts.push_back({pile.server, pile.taken});
  }
  return collect(std::move(parts));
}

std::optional<Placement> FreeServers::fewest_possible(std::uint32_t kind, std::uint32_t count,
                                                      std::uint32_t worker) const {
  auto found = tight(kind, count, worker);
  if (!found) return std::nullopt;
  const Topology& topology = gpus_->topology();
  std::uint32_t servers = 1;
  for (std::size_t i = 1; i < found->size(); ++i) {
    if (topology.server_of((*found)[i]) != topology.server_of((*found)[i - 1])) ++servers;
  }
  if (servers > fewest_servers(kind, count, worker)) return std::nullopt;
  return found;
}

std::uint32_t FreeServers::fewest_servers(std::uint32_t kind, std::uint32_t count,
                                          std::uint32_t worker) const {
  const Kind& k = kinds_[kind];
  const std::uint32_t one = piece(k, worker);
  std::uint32_t servers = 0;
  for (auto size = static_cast<std::uint32_t>(k.servers_of.size()); size-- > 1 && count > 0;) {
    const std::uint32_t room = whole(size, one);
    if (room == 0) break;
    const std::uint32_t some = std::min(k.servers_of[size], (count + room - 1) / room);
    servers += some;
    count -= std::min(count, some * room);
  }
  return servers;
}

}  // namespace starling
