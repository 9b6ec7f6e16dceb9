// SPDX-License-Identifier: Apache-2.0
// Executors whose starts fail again and again (agents/start_record.h): what a rest means here.
#include "agents/step/owner_step.h"
#include "base/marks.h"

namespace starling {

/// The ledger gives nothing of a resting executor away; what runs there goes on.
void OwnerStep::rest(OwnedExecutor& executor) {
  const bool resting = executor.starts.resting();
  if (s.owner.ledger.is_resting(ServerId{executor.servers.first}) == resting) return;
  s.owner.ledger.set_resting(executor.servers, resting);
  STARLING_MARK("agent: an executor rests, or has rested");
  s.flock.digest_due = true;
  change(TriggerKind::departure);
}

void OwnerStep::start_began(const TaskGroup& group) {
  OwnedExecutor& executor = s.owner.executors[group.executor];
  executor.starts.began(now);
  rest(executor);
}

/// A process that was lost at once, with no service received, has not started: for lack of memory,
/// descriptors or disk. That is the executor's fault and not the job's.
void OwnerStep::judge_start(const OwnedShare& share, const TaskGroup& group, const ExitStatus& exit,
                            Duration served) {
  OwnedExecutor& executor = s.owner.executors[group.executor];
  if (!exit.lost) {
    executor.starts.went_well();
  } else if (served <= Duration{0} && share.launched != kNever &&
             now < later(share.launched, StartRecord::kAtOnce)) {
    STARLING_MARK("agent: a start has failed");
    executor.starts.failed(now, exit.log_tail);
  }
  rest(executor);
}

void OwnerStep::look_at_rests() {
  for (OwnedExecutor& executor : s.owner.executors) {
    if (executor.starts.next() <= now && executor.starts.tick(now)) rest(executor);
  }
}

std::vector<std::string> resting_executors(const AgentState& s) {
  std::vector<std::string> lines;
  for (const OwnedExecutor& executor : s.owner.executors) {
    const std::string text = executor.starts.text(s.now);
    if (text.empty() || lines.size() == AgentStatus::kMostTroubles) continue;
    lines.push_back("executor-" + std::to_string(executor.node.value - kFirstExecutor) +
                    " is avoided: " + text);
  }
  return lines;
}

}  // namespace starling
