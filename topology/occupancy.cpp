// SPDX-License-Identifier: Apache-2.0
#include "topology/occupancy.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace starling {
namespace {

constexpr std::uint8_t kBlocked = 0x80;
constexpr std::uint8_t kTenants = 0x7f;

/// How often `each` goes into what is left; any number of times where nothing is asked for or said.
std::uint32_t times(double has, std::int64_t taken, std::int64_t each) {
  if (each <= 0 || has <= 0) return Occupancy::kAnyNumber;
  const std::int64_t left = std::llround(has * 1e6) - taken;
  if (left <= 0) return 0;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(left / each, Occupancy::kAnyNumber));
}

std::uint32_t room_beside(Demand taken, const Server& server, Demand each) {
  return std::min(times(server.cpus, taken.cpus, each.cpus),
                  times(server.memory_gib, taken.memory, each.memory));
}

}  // namespace

Occupancy::Occupancy(const Topology& topology, IndexRange servers, std::uint32_t jobs_per_gpu)
    : topology_(topology),
      servers_(servers),
      jobs_per_gpu_(jobs_per_gpu),
      any_free_(servers.size()),
      log_(std::max(64U, servers.size() / 8)) {
  STARLING_CHECK(jobs_per_gpu >= 1 && jobs_per_gpu <= kTenants);
  STARLING_CHECK(servers.first <= servers.last && servers.last <= topology.server_count());
  if (servers.size() > 0) {
    gpus_ = {topology.servers()[servers.first].gpus.first,
             topology.servers()[servers.last - 1].gpus.last};
  }
  free_ = gpus_.size();
  state_.assign(free_, 0);
  free_bits_.assign((free_ + 63U) / 64U, ~std::uint64_t{0});
  taken_.resize(servers.size());
  std::uint32_t largest = 0;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    free_per_server_.push_back(topology.servers()[s].gpus.size());
    largest = std::max(largest, free_per_server_.back());
  }
  by_free_.assign(largest + 1, BitmapTree(servers.size()));
  by_free_count_.assign(largest + 1, 0);
  whole_.resize(largest + 1);
  sizes_.assign(largest + 1, 0);
  for (std::uint32_t s = 0; s < servers.size(); ++s) {
    const std::uint32_t count = free_per_server_[s];
    if (whole_[count].size() == 0) whole_[count] = BitmapTree(servers.size());
    whole_[count].set(s);
    by_free_[count].set(s);
    ++by_free_count_[count];
    ++sizes_[count];
    if (count > 0) any_free_.set(s);
  }
  whole_count_ = sizes_;
}

std::uint32_t Occupancy::relative(ServerId server) const noexcept {
  STARLING_CHECK(servers_.contains(server.value));
  return server.value - servers_.first;
}

std::uint32_t Occupancy::free_on(ServerId server) const noexcept {
  return free_per_server_[relative(server)];
}

bool Occupancy::is_free(GpuId gpu) const noexcept {
  STARLING_CHECK(gpus_.contains(gpu.value));
  const std::uint32_t bit = gpu.value - gpus_.first;
  return (free_bits_[bit / 64U] >> (bit % 64U) & 1U) != 0;
}

void Occupancy::move_server(std::uint32_t server, std::uint32_t free_before,
                            std::uint32_t free_after) {
  const std::uint32_t size = topology_.servers()[servers_.first + server].gpus.size();
  by_free_[free_before].reset(server);
  by_free_[free_after].set(server);
  --by_free_count_[free_before];
  ++by_free_count_[free_after];
  if (free_before == size) {
    whole_[size].reset(server);
    --whole_count_[size];
  } else if (free_after == size) {
    whole_[size].set(server);
    ++whole_count_[size];
  }
  if (free_before == 0) any_free_.set(server);
  if (free_after == 0) any_free_.reset(server);
  free_per_server_[server] = free_after;
}

std::uint32_t Occupancy::tenants(GpuId gpu) const noexcept {
  STARLING_CHECK(gpus_.contains(gpu.value));
  return state_[gpu.value - gpus_.first] & kTenants;
}

bool Occupancy::has_room(GpuId gpu) const noexcept {
  return !is_blocked(gpu) && tenants(gpu) < jobs_per_gpu_;
}

bool Occupancy::is_blocked(GpuId gpu) const noexcept {
  STARLING_CHECK(gpus_.contains(gpu.value));
  return (state_[gpu.value - gpus_.first] & kBlocked) != 0;
}

void Occupancy::update_free_bit(std::uint32_t gpu) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << (gpu % 64U);
  state_[gpu] == 0 ? free_bits_[gpu / 64U] |= bit : free_bits_[gpu / 64U] &= ~bit;
}

void Occupancy::change(std::span<const GpuId> gpus, Demand each, bool more) {
  for (std::size_t i = 0; i < gpus.size();) {
    STARLING_CHECK(gpus_.contains(gpus[i].value));
    const std::uint32_t server = topology_.server_of(gpus[i]).value;
    const IndexRange here = topology_.servers()[server].gpus;
    const std::uint32_t before = free_per_server_[server - servers_.first];
    std::uint32_t after = before;
    const std::size_t first = i;
    for (; i < gpus.size() && here.contains(gpus[i].value); ++i) {
      const std::uint32_t gpu = gpus[i].value - gpus_.first;
      const std::uint32_t count = state_[gpu] & kTenants;
      STARLING_CHECK(more ? count < jobs_per_gpu_ : count > 0);
      if (count == (more ? 0U : 1U)) {  // it gets its first tenant, or loses its last
        more ? ++busy_ : --busy_;
        if ((state_[gpu] & kBlocked) == 0) more ? --after : ++after;
      }
      more ? ++state_[gpu] : --state_[gpu];
      update_free_bit(gpu);
    }
    if (each.any()) {
      Demand taken = taken_[server - servers_.first];
      const auto n = static_cast<std::int64_t>(i - first) * (more ? 1 : -1);
      taken.cpus += n * each.cpus;
      taken.memory += n * each.memory;
      STARLING_CHECK(taken.cpus >= 0 && taken.memory >= 0);
      set_taken(server - servers_.first, taken);
    }
    log_.note(server);
    if (after == before) continue;
    move_server(server - servers_.first, before, after);
    free_ = free_ + after - before;
  }
}

void Occupancy::take(std::span<const GpuId> gpus, Demand each) { change(gpus, each, true); }
void Occupancy::give_back(std::span<const GpuId> gpus, Demand each) { change(gpus, each, false); }

std::uint32_t Occupancy::room_of(const Server& server, Demand each) noexcept {
  return room_beside({}, server, each);
}

std::uint32_t Occupancy::room_on(ServerId server, Demand each) const noexcept {
  if (!each.any()) return kAnyNumber;
  return room_beside(taken_[relative(server)], topology_.server(server), each);
}

std::uint32_t Occupancy::free_on(ServerId server, Demand each) const noexcept {
  return std::min(free_on(server), room_on(server, each));
}

bool Occupancy::has_means(std::span<const GpuId> gpus, Demand each,
                          std::span<const GpuId> own) const noexcept {
  if (!each.any()) return true;
  const auto on = [](std::span<const GpuId> some, IndexRange range) {
    const auto first = std::ranges::lower_bound(some, GpuId{range.first});
    const auto last = std::ranges::lower_bound(some, GpuId{range.last});
    return static_cast<std::uint64_t>(last - first);
  };
  for (std::size_t i = 0; i < gpus.size();) {
    if (!gpus_.contains(gpus[i].value)) {
      ++i;
      continue;
    }
    const ServerId server = topology_.server_of(gpus[i]);
    const IndexRange here = topology_.server(server).gpus;
    const std::uint64_t want = on(gpus, here);
    if (want > std::uint64_t{room_on(server, each)} + on(own, here)) return false;
    i += want;
  }
  return true;
}

Demand Occupancy::taken_on(ServerId server) const noexcept { return taken_[relative(server)]; }

void Occupancy::set_taken(std::uint32_t server, Demand to) {
  taking_ -= taken_[server].any() ? 1U : 0U;
  taking_ += to.any() ? 1U : 0U;
  taken_[server] = to;
}

bool Occupancy::block_on(std::uint32_t server, IndexRange gpus, bool to) {
  const std::uint32_t before = free_per_server_[server];
  std::uint32_t after = before;
  for (std::uint32_t g = gpus.first; g < gpus.last; ++g) {
    const bool was_free = state_[g] == 0;
    state_[g] = static_cast<std::uint8_t>(to ? state_[g] | kBlocked : state_[g] & kTenants);
    update_free_bit(g);
    if (was_free != (state_[g] == 0)) was_free ? --after : ++after;
  }
  log_.note(servers_.first + server);
  if (after == before) return false;
  move_server(server, before, after);
  free_ = free_ + after - before;
  return true;
}

bool Occupancy::set_blocked(IndexRange servers, bool to) {
  bool changed = false;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    const IndexRange here = topology_.server(ServerId{s}).gpus;
    changed =
        block_on(relative(ServerId{s}), {here.first - gpus_.first, here.last - gpus_.first}, to) ||
        changed;
  }
  return changed;
}

bool Occupancy::set_blocked(GpuId gpu, bool to) {
  STARLING_CHECK(gpus_.contains(gpu.value));
  const std::uint32_t g = gpu.value - gpus_.first;
  return block_on(relative(topology_.server_of(gpu)), {g, g + 1}, to);
}

void Occupancy::append_free(std::uint32_t server, std::uint32_t count,
                            std::vector<GpuId>& out) const {
  const IndexRange here = topology_.servers()[servers_.first + server].gpus;
  std::uint32_t bit = here.first - gpus_.first;
  const std::uint32_t end = here.last - gpus_.first;
  while (count > 0 && bit < end) {
    const std::uint64_t word = free_bits_[bit / 64U] >> (bit % 64U);
    if (word == 0) {
      bit = (bit / 64U + 1) * 64U;
      continue;
    }
    bit += static_cast<std::uint32_t>(std::countr_zero(word));
    if (bit >= end) return;
    out.push_back(GpuId(gpus_.first + bit));
    ++bit;
    --count;
  }
}

std::optional<std::vector<GpuId>> Occupancy::lowest_free(std::uint32_t count) const {
  if (count > free_) return std::nullopt;
  std::vector<GpuId> found;
  found.reserve(count);
  for (std::uint32_t s = any_free_.next(0); found.size() < count; s = any_free_.next(s + 1)) {
    STARLING_CHECK(s < servers_.size());
    append_free(s, count - static_cast<std::uint32_t>(found.size()), found);
  }
  return found;
}

std::optional<ServerId> Occupancy::best_fit(std::uint32_t count) const {
  for (std::uint32_t k = count; k < by_free_.size(); ++k) {
    if (by_free_count_[k] > 0) return ServerId(servers_.first + by_free_[k].next(0));
  }
  return std::nullopt;
}

std::vector<GpuId> Occupancy::free_gpus(ServerId server, std::uint32_t count) const {
  STARLING_CHECK(free_on(server) >= count);
  std::vector<GpuId> found;
  found.reserve(count);
  append_free(relative(server), count, found);
  return found;
}

std::vector<ServerId> Occupancy::whole_free_servers(std::uint32_t gpus_per_server,
                                                    std::uint32_t limit) const {
  std::vector<ServerId> found;
  if (gpus_per_server >= whole_.size()) return found;
  const BitmapTree& whole = whole_[gpus_per_server];
  for (std::uint32_t s = whole.next(0); s < whole.size() && found.size() < limit;
       s = whole.next(s + 1)) {
    found.push_back(ServerId(servers_.first + s));
  }
  return found;
}

std::uint32_t Occupancy::whole_free_count(std::uint32_t gpus_per_server) const noexcept {
  return gpus_per_server < whole_count_.size() ? whole_count_[gpus_per_server] : 0;
}

std::optional<ServerId> Occupancy::with_free(std::uint32_t free, ServerId from) const {
  if (free >= by_free_.size() || by_free_count_[free] == 0) return std::nullopt;
  const std::uint32_t found = by_free_[free].next(from.value - servers_.first);
  if (found >= servers_.size()) return std::nullopt;
  return ServerId(servers_.first + found);
}

std::optional<ServerId> Occupancy::with_any_free(ServerId from) const {
  const std::uint32_t found = any_free_.next(from.value - servers_.first);
  if (found >= servers_.size()) return std::nullopt;
  return ServerId(servers_.first + found);
}

std::uint32_t Occupancy::largest_free_server() const noexcept {
  auto k = static_cast<std::uint32_t>(by_free_count_.size() - 1);
  while (k > 0 && by_free_count_[k] == 0) --k;
  return k;
}

std::array<std::uint32_t, 17> Occupancy::free_histogram() const noexcept {
  std::array<std::uint32_t, 17> histogram{};
  for (std::size_t k = 1; k < by_free_count_.size(); ++k) {
    histogram[std::min<std::size_t>(k, 16)] += by_free_count_[k];
  }
  return histogram;
}

void Occupancy::copy_server(const Occupancy& other, std::uint32_t server) {
  const IndexRange here = topology_.servers()[server].gpus;
  const std::uint32_t first = here.first - gpus_.first;
  const std::uint32_t last = here.last - gpus_.first;
  const Demand theirs = other.taken_[server - servers_.first];
  if (taken_[server - servers_.first] == theirs &&
      std::equal(state_.begin() + first, state_.begin() + last, other.state_.begin() + first)) {
    return;
  }
  set_taken(server - servers_.first, theirs);
  const std::uint32_t before = free_per_server_[server - servers_.first];
  const std::uint32_t after = other.free_per_server_[server - servers_.first];
  for (std::uint32_t g = first; g < last; ++g) {
    busy_ -= (state_[g] & kTenants) != 0 ? 1U : 0U;
    state_[g] = other.state_[g];
    busy_ += (state_[g] & kTenants) != 0 ? 1U : 0U;
    update_free_bit(g);
  }
  log_.note(server);
  if (after == before) return;
  move_server(server - servers_.first, before, after);
  free_ = free_ + after - before;
}

void Occupancy::follow(const Occupancy& other) {
  STARLING_CHECK(servers_ == other.servers_ && gpus_ == other.gpus_);
  STARLING_CHECK(jobs_per_gpu_ == other.jobs_per_gpu_);
  touched_.clear();
  const auto add = [this](std::uint32_t server) { touched_.push_back(server); };
  if (log_.since(own_seen_, add) && other.log_.since(other_seen_, add)) {
    for (const std::uint32_t server : touched_) copy_server(other, server);
  } else {
    for (std::uint32_t s = servers_.first; s < servers_.last; ++s) copy_server(other, s);
  }
  own_seen_ = log_.mark();
  other_seen_ = other.log_.mark();
}

}  // namespace starling
