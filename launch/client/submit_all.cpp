// SPDX-License-Identifier: Apache-2.0
// Many jobs, as the tasks of an array: so many are under way at once.
#include <deque>
#include <map>

#include "launch/client/flock_client.h"
#include "launch/client/pending_submit.h"
#include "launch/client/session.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

constexpr std::size_t kAtOnce = 256;

}  // namespace

Status FlockClient::submit_all(const std::vector<JobSpec>& jobs, Duration patience) {
  if (Status s = connect(); !s.ok()) return s;
  std::map<JobId, PendingSubmit> open;
  std::size_t next = 0;
  Instant until = later(Session::now(), patience);
  while ((next < jobs.size() || !open.empty()) && !stop_requested()) {
    for (; next < jobs.size() && open.size() < kAtOnce; ++next) {
      if (next == 0) {  // alone: whoever speaks an earlier version says so
        if (auto first = submit(jobs.front(), patience); !first.ok()) return first.error();
        continue;
      }
      open.emplace(jobs[next].id, PendingSubmit(*session_, jobs[next]));
    }
    Instant due = until;
    for (auto& [id, pending] : open) {
      if (Session::now() >= pending.due()) pending.say(*session_);
      due = std::min(due, pending.due());
    }
    if (open.empty()) continue;
    if (Session::now() >= until) return open.begin()->second.silence();
    const auto received = session_->receive(due);
    if (!received) continue;
    const auto about = job_in(received->message);
    const auto at = about ? open.find(*about) : open.end();
    if (at == open.end()) continue;
    const auto answer = at->second.heard(*received);
    if (!answer) continue;
    if (!answer->ok()) return answer->error();
    open.erase(at);
    until = later(Session::now(), patience);
  }
  if (stop_requested()) return {Errc::not_ready, "interrupted; some of the jobs are submitted"};
  return done();
}

}  // namespace starling
