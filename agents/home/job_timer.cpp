// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "agents/step/home_step.h"
#include "base/marks.h"

namespace starling {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(500);
constexpr Duration kLastPause = std::chrono::seconds(60);

/// After a round that failed policies ask around again when they think fit, and nothing tells when:
/// so they are asked soon, twice as late each time, until the rare looks of decide() do.
Instant next_try(AgentState& s, Job& job) {
  if (!s.lossy() || job.failed_rounds == 0) return kNever;
  job.backoff = std::max(2 * job.backoff, kFirstPause);
  if (job.backoff > kLastPause) return kNever;
  const auto jitter = static_cast<double>(job.backoff.count()) / 2 * s.rng.uniform();
  return later(s.now, job.backoff / 2 + Duration(static_cast<std::int64_t>(jitter)));
}

}  // namespace

void HomeStep::on_job_timer(Job& job) {
  STARLING_MARK("agent: on_job_timer");
  switch (job.stage()) {
    case Stage::waiting:
      if (JobView* view = s.home.waiting.find(job.order)) {
        view->blocked = false;
        change(TriggerKind::arrival);
        s.home.set_timer(job.spec->id, job, next_try(s, job));
      } else if (job.back() != JobReason::none) {
        queue_again(job);
      }
      break;
    case Stage::offered:
      send_offer(job);
      break;
    case Stage::bidding:
      if (job.round()->claimed.empty()) {
        choose(job);
      } else if (job.round()->deadline <= now) {
        end_turn(job, std::nullopt);
      } else {
        claim(job);
      }
      break;
    case Stage::reserving:
    case Stage::committing:
      if (job.round()->deadline <= now) {
        STARLING_MARK("agent: a round runs out of time");
        abort_round(job, "no answer within the hold time");
      } else if (!job.round()->committing) {
        send_reserves(job);
      } else {
        send_commits(job);
      }
      break;
    case Stage::starting:
      if (job.run()->deadline <= now) {
        STARLING_MARK("agent: a start runs out of time");
        job.trouble = "not every partition had started it in time";
        drain(job, AfterDrain::retry);
      } else if (any_lost(job)) {
        count_lost(job);
      } else {
        send_starts(job);
      }
      break;
    case Stage::running:
      any_lost(job) ? count_lost(job) : watch_participants(job);
      break;
    case Stage::draining:
      any_lost(job) ? count_lost(job) : send_releases(job);
      break;
  }
}

}  // namespace starling
