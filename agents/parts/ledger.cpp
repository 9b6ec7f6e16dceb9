// SPDX-License-Identifier: Apache-2.0
#include "agents/parts/ledger.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "base/planted.h"

namespace starling {

const char* name_of(HoldPhase phase) noexcept {
  switch (phase) {
    case HoldPhase::reserved:
      return "reserved";
    case HoldPhase::committed:
      return "committed";
    case HoldPhase::launched:
      return "launched";
    case HoldPhase::releasing:
      return "releasing";
  }
  return "unknown";
}

Ledger::Ledger(const Topology& topology, IndexRange servers, const Limits& limits,
               std::uint32_t room)
    : limits_(limits),
      gpus_(topology, servers,
            std::max(limits.jobs_per_gpu, room) + (planted(Bug::hold_on_full_gpu) ? 1 : 0)),
      trusted_(servers.size(), 0),
      graves_(limits.tombstones) {
  (void)gpus_.block(servers);
}

bool Ledger::well_formed(const Placement& gpus) const {
  if (gpus.empty() || !gpus_.gpus().contains(gpus.front().value)) return false;
  if (!gpus_.gpus().contains(gpus.back().value)) return false;
  return std::adjacent_find(gpus.begin(), gpus.end(), std::greater_equal<>()) == gpus.end();
}

std::optional<Refusal> Ledger::why_not(AttemptId attempt, const Placement& gpus, Demand each,
                                       Expected beside) const {
  if (graves_.contains(attempt)) return Refusal::expired;
  if (!well_formed(gpus)) return Refusal::invalid;
  bool unsure = false;
  for (const GpuId gpu : gpus) {
    if (gpus_.tenants(gpu) > 0 && !may_join(gpu, beside)) return Refusal::conflict;
    unsure = unsure || gpus_.is_blocked(gpu);
  }
  if (unsure) return Refusal::not_ready;
  if (!gpus_.has_means(gpus, each)) return Refusal::conflict;
  if (holds_.size() >= limits_.holds) return Refusal::busy;
  return std::nullopt;
}

bool Ledger::may_join(GpuId gpu, Expected beside) const {
  if (gpus_.tenants(gpu) >= limits_.jobs_per_gpu + (planted(Bug::hold_on_full_gpu) ? 1 : 0))
    return false;
  if (!beside || planted(Bug::hold_on_full_gpu)) return true;
  return std::any_of(beside->begin(), beside->end(), [&](AttemptId tenant) {
    const Hold* hold = find(tenant);
    return hold != nullptr && hold->phase == HoldPhase::launched &&
           std::binary_search(hold->gpus.begin(), hold->gpus.end(), gpu);
  });
}

std::optional<Refusal> Ledger::reserve(AttemptId attempt, AgentId home, const Placement& gpus,
                                       Instant until, Demand each,
                                       std::span<const AttemptId> beside) {
  if (const auto known = holds_.find(attempt); known != holds_.end()) {
    Hold& hold = known->second;
    if (hold.gpus != gpus || hold.home != home) return Refusal::conflict;
    if (hold.phase == HoldPhase::releasing) return Refusal::expired;
    if (hold.phase == HoldPhase::reserved) hold.until = std::max(hold.until, until);
    return std::nullopt;
  }
  if (const auto refusal = why_not(attempt, gpus, each, beside)) return refusal;
  STARLING_CHECK(adopt(attempt, home, gpus, HoldPhase::reserved, each));
  Hold& hold = holds_.at(attempt);
  hold.until = until;
  hold.given = true;
  return std::nullopt;
}

std::optional<Refusal> Ledger::commit(Instant now, AttemptId attempt) {
  const auto at = holds_.find(attempt);
  if (at == holds_.end() || at->second.phase == HoldPhase::releasing) return Refusal::expired;
  Hold& hold = at->second;
  if (hold.phase != HoldPhase::reserved) return std::nullopt;
  if (hold.until <= now && !planted(Bug::lapsed_hold_committed)) return Refusal::expired;
  hold.phase = HoldPhase::committed;
  hold.until = kNever;
  return std::nullopt;
}

std::optional<Refusal> Ledger::allocate(AttemptId attempt, AgentId home, const Placement& gpus,
                                        Demand each) {
  if (holds_.contains(attempt)) return Refusal::conflict;
  if (const auto refusal = why_not(attempt, gpus, each, std::nullopt)) return refusal;
  STARLING_CHECK(adopt(attempt, home, gpus, HoldPhase::launched, each));
  holds_.at(attempt).given = true;
  return std::nullopt;
}

bool Ledger::adopt(AttemptId attempt, AgentId home, const Placement& gpus, HoldPhase phase,
                   Demand each) {
  if (!well_formed(gpus) || holds_.contains(attempt)) return false;
  for (const GpuId gpu : gpus) {
    if (gpus_.tenants(gpu) >= gpus_.jobs_per_gpu()) return false;
  }
  gpus_.take(gpus, each);
  holds_.emplace(attempt, Hold{home, gpus, each, phase, kNever});
  ++version_;
  return true;
}

void Ledger::launched(AttemptId attempt) {
  Hold& hold = holds_.at(attempt);
  STARLING_CHECK(hold.phase == HoldPhase::committed || hold.phase == HoldPhase::launched);
  hold.phase = HoldPhase::launched;
}

void Ledger::releasing(AttemptId attempt) {
  Hold& hold = holds_.at(attempt);
  hold.phase = HoldPhase::releasing;
  hold.until = kNever;
}

void Ledger::free(const Hold& hold) {
  gpus_.give_back(hold.gpus, hold.each);
  ++version_;
}

void Ledger::forget(AttemptId attempt) {
  const auto at = holds_.find(attempt);
  if (at == holds_.end()) return;
  free(at->second);
  holds_.erase(at);
}

void Ledger::release(AttemptId attempt, Duration served, Instant now, bool durable) {
  forget(attempt);
  if (planted(Bug::owner_without_tombstones)) return;
  graves_.add(attempt, {served, now, durable});
}

bool Ledger::is_trusted(ServerId server) const {
  return trusted_[server.value - gpus_.servers().first] != 0;
}

void Ledger::block_again(ServerId server) {
  const IndexRange alone{server.value, server.value + 1};
  const bool out = !is_trusted(server) || drained_.contains(server) || resting_.contains(server);
  bool changed = out ? gpus_.block(alone) : gpus_.unblock(alone);
  if (!out) {
    const IndexRange here = gpus_.topology().server(server).gpus;
    for (auto gpu = sick_.lower_bound(GpuId{here.first});
         gpu != sick_.end() && gpu->value < here.last; ++gpu) {
      changed = gpus_.set_blocked(*gpu, true) || changed;
    }
  }
  if (changed) ++version_;
}

void Ledger::trust(IndexRange servers) {
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    trusted_[s - gpus_.servers().first] = 1;
    block_again(ServerId{s});
  }
}

void Ledger::distrust(IndexRange servers) {
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    trusted_[s - gpus_.servers().first] = 0;
    block_again(ServerId{s});
  }
}

void Ledger::set_sick(GpuId gpu, bool sick) {
  STARLING_CHECK(gpus_.gpus().contains(gpu.value));
  const bool changed = sick ? sick_.insert(gpu).second : sick_.erase(gpu) > 0;
  if (changed) block_again(gpus_.topology().server_of(gpu));
}

void Ledger::set_drained(ServerId server, bool drained) {
  STARLING_CHECK(gpus_.servers().contains(server.value));
  const bool changed = drained ? drained_.insert(server).second : drained_.erase(server) > 0;
  if (changed) block_again(server);
}

void Ledger::set_resting(IndexRange servers, bool resting) {
  for (std::uint32_t i = servers.first; i < servers.last; ++i) {
    STARLING_CHECK(gpus_.servers().contains(i));
    const ServerId server{i};
    const bool changed = resting ? resting_.insert(server).second : resting_.erase(server) > 0;
    if (changed) block_again(server);
  }
}

std::uint32_t Ledger::resting_count() const {
  std::uint32_t count = 0;
  for (const ServerId server : resting_) {
    if (!is_trusted(server) || drained_.contains(server)) continue;
    const IndexRange here = gpus_.topology().server(server).gpus;
    for (std::uint32_t g = here.first; g < here.last; ++g) {
      if (gpus_.tenants(GpuId{g}) == 0 && !sick_.contains(GpuId{g})) ++count;
    }
  }
  return count;
}

std::uint32_t Ledger::sick_count() const {
  std::uint32_t count = 0;
  for (const GpuId gpu : sick_) count += gpus_.tenants(gpu) == 0 ? 1U : 0U;
  return count;
}

std::uint32_t Ledger::drained_count() const {
  std::uint32_t count = 0;
  for (const ServerId server : drained_) {
    if (!is_trusted(server)) continue;
    const IndexRange here = gpus_.topology().server(server).gpus;
    for (std::uint32_t g = here.first; g < here.last; ++g) {
      if (gpus_.tenants(GpuId{g}) == 0 && !sick_.contains(GpuId{g})) ++count;
    }
  }
  return count;
}

const Hold* Ledger::find(AttemptId attempt) const {
  const auto at = holds_.find(attempt);
  return at == holds_.end() ? nullptr : &at->second;
}

const Duration* Ledger::released(AttemptId attempt) const {
  const Tombstone* stone = graves_.find(attempt);
  return stone == nullptr ? nullptr : &stone->served;
}

}  // namespace starling
