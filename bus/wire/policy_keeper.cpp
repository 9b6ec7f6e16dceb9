// SPDX-License-Identifier: Apache-2.0
#include "bus/wire/policy_keeper.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/planted.h"

namespace starling {
namespace {

constexpr double kTooMuch_s = 60;  // until it is looked again whether it is little enough to keep

}  // namespace

/// The instant that every life calls the same: what its calendar counts from.
Instant PolicyKeeper::origin(const AgentConfig& config, Instant now) {
  return config.calendar ? Instant(-*config.calendar) : now;
}

Status PolicyKeeper::take_up(Policy& policy, std::string made_of, PolicyMemory* memory,
                             std::span<const std::byte> kept, const AgentConfig& config,
                             Instant now) {
  policy_ = &policy;
  made_of_ = std::move(made_of);
  memory_ = memory;
  Status taken = unpack_memory(kept, policy, made_of_, origin(config, now));
  STARLING_CHECK(taken.ok() || !planted(Bug::memory_stops_agent));
  kept_ = policy.learned();
  return taken;
}

void PolicyKeeper::learn(const AgentState& state) {
  if (policy_ == nullptr) return;
  policy_->learn();
  // In simulated time much happens at one instant; after the first of it no node dies.
  if (policy_->learned() != kept_ && (state.now >= next_ || state.now == kept_at_)) keep(state);
}

void PolicyKeeper::keep(const AgentState& state) {
  if (memory_ == nullptr || policy_->learned() == kept_) return;
  const auto memory = packed_memory(*policy_, made_of_, origin(state.config, state.now));
  if (!memory) memory_->drop(memory.error().message);
  if (memory && !memory.value().empty()) memory_->keep(memory.value());
  kept_ = policy_->learned();
  const double takes_s =
      memory ? static_cast<double>(memory.value().size()) / kBytesInSecond : kTooMuch_s;
  kept_at_ = state.now;
  next_ = later(state.now, std::max(kApart, from_seconds(takes_s)));
}

}  // namespace starling
