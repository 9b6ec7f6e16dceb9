// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/recovery_meter.h"

#include <algorithm>

namespace starling::chaos_live {
namespace {

// What was on its way when the agent was hit still arrives.
constexpr double kOnTheWay = 0.1;

}  // namespace

void RecoveryMeter::hit(std::uint32_t agent, LiveFaultKind kind, double now, JobId probe) {
  disturb();
  // Hit again before it was back: the first case has no end of its own.
  open_.erase(
      std::remove_if(open_.begin(), open_.end(), [&](const Case& c) { return c.agent == agent; }),
      open_.end());
  Case fresh;
  fresh.agent = agent;
  fresh.kind = kind;
  fresh.since = now;
  fresh.probe = probe;
  fresh.epoch = epochs_[agent];
  fresh.disturbed = !open_.empty();
  open_.push_back(fresh);
}

void RecoveryMeter::disturb() {
  for (Case& c : open_) c.disturbed = true;
}

void RecoveryMeter::told(const AgentStatus& status, std::uint32_t host, double now) {
  if (status.agent.value >= epochs_.size()) return;
  epochs_[status.agent.value] = std::max(epochs_[status.agent.value], status.fence.epoch.value);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    Case& c = open_[i];
    if (c.agent != status.agent.value || now < c.since + kOnTheWay) continue;
    if (c.kind == LiveFaultKind::stop && status.fence.epoch.value == c.epoch) {
      // It was woken before another agent took over.
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    if (status.fence.epoch.value < c.epoch) continue;
    if (c.answered < 0) c.answered = now - c.since, c.host = host;
    if (status.quarantined == 0 && c.reconciled < 0) c.reconciled = now - c.since;
    return close_finished();
  }
}

void RecoveryMeter::accepted(JobId probe, double now) {
  for (Case& c : open_) {
    if (c.probe == probe && c.accepted < 0) c.accepted = now - c.since;
  }
  close_finished();
}

void RecoveryMeter::close_finished() {
  for (const Case& c : open_) {
    if (c.over()) over_.push_back(c);
  }
  open_.erase(std::remove_if(open_.begin(), open_.end(), [](const Case& c) { return c.over(); }),
              open_.end());
}

}  // namespace starling::chaos_live
