// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/step/owner_step.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {

void OwnerStep::on_share_timer(AttemptId attempt, OwnedShare& share) {
  STARLING_MARK("agent: on_share_timer");
  const Hold* hold = s.owner.ledger.find(attempt);
  if (hold->phase != HoldPhase::releasing && unwanted(share)) {
    release_share(attempt, share);
  } else if (share.exit_reported) {
    tell_exited(attempt, share);
  } else if (hold->phase == HoldPhase::committed) {
    ask_home(attempt, share);
  } else if (hold->phase == HoldPhase::releasing) {
    send_kills(attempt, share);
  } else {
    const auto in = [&](TaskGroup::State state) {
      return std::any_of(share.task_groups.begin(), share.task_groups.end(),
                         [&](const TaskGroup& group) { return group.state == state; });
    };
    if (in(TaskGroup::State::unknown) || !share.home_known) {
      if (planted(Bug::launched_freed_on_silence)) {
        s.owner.ledger.release(attempt, Duration{0});
        return s.owner.drop_share(attempt);
      }
      ask_home(attempt, share);
    } else if (in(TaskGroup::State::launching)) {
      if (later(share.launched, s.config.timers.start) <= now) {
        fail_share(attempt, share, {0, true, "an executor did not answer in time"});
      } else {
        send_launches(attempt, share, TaskGroup::State::launching);
      }
    } else if (s.lossy() && s.remote_home(share)) {
      ask_home(attempt, share);
    }
  }
}

}  // namespace starling
