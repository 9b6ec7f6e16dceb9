#include "agents/ledger.h"

#include <algorithm>
#include <functional>

#include "base/check.h"

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

Ledger::Ledger(const Topology& topology, IndexRange servers, const Limits& limits)
    : limits_(limits), gpus_(topology, servers) {
  held_.assign(gpus_.gpus().size(), false);
  trusted_.assign(gpus_.gpus().size(), false);
  for (std::uint32_t g = gpus_.gpus().first; g < gpus_.gpus().last; ++g)
    scratch_.push_back(GpuId{g});
  if (!scratch_.empty()) gpus_.take(scratch_);
}

bool Ledger::well_formed(const Placement& gpus) const {
  if (gpus.empty() || !gpus_.gpus().contains(gpus.front().value)) return false;
  if (!gpus_.gpus().contains(gpus.back().value)) return false;
  return std::adjacent_find(gpus.begin(), gpus.end(), std::greater_equal<>()) == gpus.end();
}

std::optional<Refusal> Ledger::why_not(AttemptId attempt, const Placement& gpus) const {
  if (graves_.contains(attempt)) return Refusal::expired;
  if (!well_formed(gpus)) return Refusal::invalid;
  bool unsure = false;
  for (const GpuId gpu : gpus) {
    if (held_[index(gpu)]) return Refusal::conflict;
    unsure = unsure || !trusted_[index(gpu)];
  }
  if (unsure) return Refusal::not_ready;
  if (holds_.size() >= limits_.holds) return Refusal::busy;
  return std::nullopt;
}

std::optional<Refusal> Ledger::reserve(AttemptId attempt, AgentId home, const Placement& gpus,
                                       Instant until) {
  if (const auto known = holds_.find(attempt); known != holds_.end()) {
    Hold& hold = known->second;
    if (hold.gpus != gpus || hold.home != home) return Refusal::conflict;
    if (hold.phase == HoldPhase::releasing) return Refusal::expired;
    if (hold.phase == HoldPhase::reserved) hold.until = std::max(hold.until, until);
    return std::nullopt;
  }
  if (const auto refusal = why_not(attempt, gpus)) return refusal;
  STARLING_CHECK(adopt(attempt, home, gpus, HoldPhase::reserved));
  holds_.at(attempt).until = until;
  return std::nullopt;
}

std::optional<Refusal> Ledger::commit(Instant now, AttemptId attempt) {
  const auto at = holds_.find(attempt);
  if (at == holds_.end() || at->second.phase == HoldPhase::releasing) return Refusal::expired;
  Hold& hold = at->second;
  if (hold.phase != HoldPhase::reserved) return std::nullopt;
  if (hold.until <= now) return Refusal::expired;
  hold.phase = HoldPhase::committed;
  hold.until = kNever;
  return std::nullopt;
}

std::optional<Refusal> Ledger::claim(AttemptId attempt, AgentId home, const Placement& gpus) {
  if (holds_.contains(attempt)) return Refusal::conflict;
  if (const auto refusal = why_not(attempt, gpus)) return refusal;
  STARLING_CHECK(adopt(attempt, home, gpus, HoldPhase::launched));
  return std::nullopt;
}

bool Ledger::adopt(AttemptId attempt, AgentId home, const Placement& gpus, HoldPhase phase) {
  if (!well_formed(gpus) || holds_.contains(attempt)) return false;
  scratch_.clear();
  for (const GpuId gpu : gpus) {
    if (held_[index(gpu)]) return false;
    if (trusted_[index(gpu)]) scratch_.push_back(gpu);
  }
  if (!scratch_.empty()) gpus_.take(scratch_);
  for (const GpuId gpu : gpus) held_[index(gpu)] = true;
  held_count_ += static_cast<std::uint32_t>(gpus.size());
  holds_.emplace(attempt, Hold{home, gpus, phase, kNever});
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
  scratch_.clear();
  for (const GpuId gpu : hold.gpus) {
    held_[index(gpu)] = false;
    if (trusted_[index(gpu)]) scratch_.push_back(gpu);
  }
  held_count_ -= static_cast<std::uint32_t>(hold.gpus.size());
  if (!scratch_.empty()) gpus_.give_back(scratch_);
  ++version_;
}

void Ledger::forget(AttemptId attempt) {
  const auto at = holds_.find(attempt);
  if (at == holds_.end()) return;
  free(at->second);
  holds_.erase(at);
}

void Ledger::release(AttemptId attempt, Duration served) {
  forget(attempt);
  if (!graves_.emplace(attempt, served).second) return;
  grave_order_.push_back(attempt);
  if (grave_order_.size() > limits_.tombstones) {
    graves_.erase(grave_order_.front());
    grave_order_.pop_front();
  }
}

void Ledger::trust(IndexRange servers) {
  scratch_.clear();
  for (std::uint32_t server = servers.first; server < servers.last; ++server) {
    const IndexRange gpus = gpus_.topology().server(ServerId{server}).gpus;
    for (std::uint32_t g = gpus.first; g < gpus.last; ++g) {
      const std::uint32_t i = index(GpuId{g});
      if (!trusted_[i] && !held_[i]) scratch_.push_back(GpuId{g});
      trusted_[i] = true;
    }
  }
  if (scratch_.empty()) return;
  gpus_.give_back(scratch_);
  ++version_;
}

void Ledger::distrust(IndexRange servers) {
  scratch_.clear();
  for (std::uint32_t server = servers.first; server < servers.last; ++server) {
    const IndexRange gpus = gpus_.topology().server(ServerId{server}).gpus;
    for (std::uint32_t g = gpus.first; g < gpus.last; ++g) {
      const std::uint32_t i = index(GpuId{g});
      if (trusted_[i] && !held_[i]) scratch_.push_back(GpuId{g});
      trusted_[i] = false;
    }
  }
  if (scratch_.empty()) return;
  gpus_.take(scratch_);
  ++version_;
}

const Hold* Ledger::find(AttemptId attempt) const {
  const auto at = holds_.find(attempt);
  return at == holds_.end() ? nullptr : &at->second;
}

const Duration* Ledger::released(AttemptId attempt) const {
  const auto at = graves_.find(attempt);
  return at == graves_.end() ? nullptr : &at->second;
}

}  // namespace starling
