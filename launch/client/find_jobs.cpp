// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "launch/client/flock_client.h"
#include "launch/client/job_lookup.h"
#include "launch/client/session.h"
#include "launch/system/signals.h"

namespace starling {

Result<JobState> FlockClient::job(JobId job, Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  return find_job(*session_, job, patience);
}

Result<JobState> FlockClient::job(const std::string& text, Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  return find_job(*session_, text, patience);
}

Result<JobsFound> FlockClient::jobs(Duration patience) {
  if (Status s = connect(); !s.ok()) return s.error();
  JobsFound found = all_jobs(*session_, patience);
  if (found.silent.size() == agents())
    return {Errc::not_ready, silence_text(found.silent) + "; is the flock up?"};
  return found;
}

Result<JobState> FlockClient::ended(JobId job, Duration patience) {
  constexpr Duration kPause = std::chrono::milliseconds(200);
  const Instant until = later(Session::now(), patience);
  for (;;) {
    const Duration left = std::max(until - Session::now(), kPause);
    auto state = this->job(job, std::min<Duration>(left, std::chrono::seconds(10)));
    if (state && terminal(state.value().phase)) return state;
    if (!state && state.error().code != Errc::not_ready) return state;
    if (stop_requested() || Session::now() >= until) {
      return state ? Error{Errc::not_ready, "job " + to_string(job) + " has not ended"}
                   : state.error();
    }
    const Instant next = std::min(until, Session::now() + kPause);
    while (session_->receive(next)) {
    }
  }
}

}  // namespace starling
