// SPDX-License-Identifier: Apache-2.0
// What a job's user, or an operator, changes of it: hold, release, requeue.
#include <string>

#include "agents/step/home_step.h"
#include "base/marks.h"

namespace starling {
namespace {

/// After its attempt is over it waits.
bool waits_next(const Job& job) {
  if (job.stage() != Stage::draining) return false;
  const AfterDrain after = job.run()->drain->after;
  return after == AfterDrain::wait || after == AfterDrain::retry || after == AfterDrain::again ||
         after == AfterDrain::requeue;
}

bool in_round(const Job& job) { return job.round() != nullptr; }

}  // namespace

/// A repeat changes nothing. What is on offer to another home is answered by whoever has it then.
void HomeStep::on(NodeId from, const ChangeJob& asked) {
  STARLING_MARK("agent: ChangeJob");
  if (s.calling_roll()) return;  // it is said again
  const auto known = s.home.jobs.find(asked.job);
  if (known == s.home.jobs.end()) return on(from, Query{asked.job});
  Job& job = known->second;
  if (std::string why = why_not_theirs(*job.spec, by); !why.empty())
    return send(from, Rejected{asked.job, Refusal::denied, std::move(why)});
  if (job.stage() == Stage::offered) return;
  std::string refused;
  switch (asked.change) {
    case JobChange::hold:
      refused = hold(job);
      break;
    case JobChange::release:
      release(job);
      break;
    case JobChange::requeue:
    case JobChange::requeue_hold:
      refused = requeue(job, asked);
      break;
    case JobChange::unknown:
      refused = "this version does not know that change";
      break;
  }
  if (!refused.empty())
    return send(from, Rejected{asked.job, Refusal::conflict, std::move(refused)});
  if (const auto still = s.home.jobs.find(asked.job); still != s.home.jobs.end())
    return send(from, full_state_of(s, still->second, now));
  on(from, Query{asked.job});  // what it waited for can never be
}

/// Why not; empty: it is held.
std::string HomeStep::hold(Job& job) {
  if (job.held) return {};
  const bool waits = job.stage() == Stage::waiting || in_round(job);
  if (!waits && !waits_next(job))
    return "job " + to_string(job.spec->id) + " runs; 'requeue --hold' stops it, and holds it then";
  job.held = true;
  persist(s.standing_of(job));
  if (!waits) return {};
  if (in_round(job)) leave_round(job);
  job.doing = Job::Waiting{};
  s.home.leave_waiting(job);
  (void)queue(job, false);
  change(TriggerKind::departure);
  return {};
}

void HomeStep::release(Job& job) {
  if (!job.held) return;
  job.held = false;
  persist(s.standing_of(job));
  if (job.stage() == Stage::waiting) queue_again(job);
}

std::string HomeStep::requeue(Job& job, const ChangeJob& asked) {
  const bool held = asked.change == JobChange::requeue_hold;
  if (job.stage() == Stage::waiting || in_round(job) || waits_next(job))
    return held ? hold(job) : std::string();
  if (asked.attempt_number != 0 &&
      job.last != AttemptId{asked.job, asked.attempt_epoch, asked.attempt_number})
    return {};  // that one is over
  if (job.spec->no_requeue)
    return "job " + to_string(job.spec->id) + " asked never to be started again (requeue: no)";
  if (job.stage() == Stage::draining && job.run()->drain->after != AfterDrain::restart)
    return "job " + to_string(job.spec->id) + " is ending";
  STARLING_MARK("agent: a job is requeued");
  if (held && !job.held) {
    job.held = true;
    persist(s.standing_of(job));
  }
  if (job.stage() != Stage::draining) {
    drain(job, AfterDrain::requeue);
    tell_client(job);
    return {};
  }
  Job::Run::Drain& plan = *job.run()->drain;
  plan = {AfterDrain::requeue};
  persist(plan_of(*job.run()));
  return {};
}

}  // namespace starling
