// SPDX-License-Identifier: Apache-2.0
#include "agents/step/job.h"

#include <algorithm>
#include <utility>

namespace starling {

const char* name_of(Stage stage) noexcept {
  switch (stage) {
    case Stage::waiting:
      return "waiting";
    case Stage::offered:
      return "offered";
    case Stage::bidding:
      return "bidding";
    case Stage::reserving:
      return "reserving";
    case Stage::committing:
      return "committing";
    case Stage::starting:
      return "starting";
    case Stage::running:
      return "running";
    case Stage::draining:
      return "draining";
  }
  return "unknown";
}

Stage Job::stage() const noexcept {
  if (const Round* open = round()) {
    if (open->bids) return Stage::bidding;
    return open->committing ? Stage::committing : Stage::reserving;
  }
  if (const Run* open = run()) {
    if (open->drain) return Stage::draining;
    return open->whole ? Stage::running : Stage::starting;
  }
  return std::holds_alternative<Offered>(doing) ? Stage::offered : Stage::waiting;
}

const Attempt* Job::attempt() const noexcept {
  if (const Round* open = round()) return &open->attempt;
  if (const Run* open = run()) return &open->attempt;
  return nullptr;
}

Attempt* Job::attempt() noexcept {
  if (Round* open = round()) return &open->attempt;
  if (Run* open = run()) return &open->attempt;
  return nullptr;
}

bool Job::has(AttemptId open) const noexcept {
  const Attempt* mine = attempt();
  return mine != nullptr && mine->id == open;
}

void Job::offer_to(AgentId home) {
  const auto at = std::ranges::find(offered, home);
  const bool again = at != offered.end();
  if (again) {
    if (static_cast<std::size_t>(at - offered.begin()) < stay) --stay;
    offered.erase(at);
  }
  offered.push_back(home);
  if (!closed.empty()) closed.push_back(home);
  doing = Offered{home, again};
}

void Job::came_back(std::vector<AgentId> before) {
  offered = std::move(before);
  stay = offered.size();
}

bool Job::waits_no_more(Instant from) {
  if (waits_since == kNever) return false;
  requeued += std::max(from - waits_since, Duration{0});
  waits_since = kNever;
  return true;
}

JobPhase phase_of(Stage stage) noexcept {
  switch (stage) {
    case Stage::starting:
      return JobPhase::starting;
    case Stage::running:
      return JobPhase::running;
    case Stage::draining:
      return JobPhase::draining;
    default:
      return JobPhase::waiting;
  }
}

Placement all_gpus(const Attempt& attempt) {
  Placement gpus;
  for (const Participant& part : attempt.parts) {
    gpus.insert(gpus.end(), part.share.gpus.begin(), part.share.gpus.end());
  }
  std::sort(gpus.begin(), gpus.end());
  return gpus;
}

std::vector<Share> gang_of(const Attempt& attempt) {
  std::vector<Share> gang;
  for (const Participant& part : attempt.parts) gang.push_back(part.share);
  return gang;
}

AttemptPlan plan_of(const Job::Run& run) {
  return {run.attempt.id, run.drain->after, run.drain->restart_at, run.exit, run.drain->restart_as};
}

}  // namespace starling
