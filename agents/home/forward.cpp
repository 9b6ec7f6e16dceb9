// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "agents/step/home_step.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {
namespace {

/// `answer` is to the present offer. One that does not say which it answers may be to any.
bool is_answered(const Job& job, AgentId home, std::uint32_t answer) {
  const Job::Offered* offered = job.offered_to(home);
  if (offered == nullptr) return false;
  return answer == job.forwards + 1 || (answer == 0 && !offered->again) ||
         planted(Bug::offer_not_numbered);
}

}  // namespace

/// Not where that home had its chance in this stay; nor, where its answers do not say what they
/// answer, in an earlier one: what it says then could be old.
bool HomeStep::may_offer(Job& job, AgentId to) {
  const auto has = [to](std::span<const AgentId> homes) {
    return std::ranges::find(homes, to) != homes.end();
  };
  if (has(job.closed_homes())) return false;
  if (s.flock.peers[to.value].watch.protocol >= kOfferProtocol || !has(job.offered)) return true;
  STARLING_MARK("agent: a home of an earlier protocol is offered a job once");
  const std::span<const AgentId> closed = job.closed_homes();
  if (job.closed.empty()) job.closed.assign(closed.begin(), closed.end());
  job.closed.push_back(to);
  if (JobView* view = s.home.waiting.find(job.order)) view->offered = job.closed;
  return false;
}

/// Gives the job away. False: it may not.
bool HomeStep::offer_job(Job& job, AgentId to) {
  STARLING_MARK("agent: offer_job");
  if (to.value >= s.flock.peers.size() || to == me()) return false;
  if (job.spec->terms.at_once > 0) return false;  // who counts its array is this home
  if (!may_offer(job, to)) return false;
  persist(JobOffered{job.spec->id, to});
  s.home.leave_waiting(job);
  job.offer_to(to);
  job.backoff = Duration{0};
  s.flock.digest_due = true;
  send_offer(job);
  return true;
}

/// Again and again until that home accepts or refuses for good: no other home may run the job
/// meanwhile.
void HomeStep::send_offer(Job& job) {
  STARLING_MARK("agent: send_offer");
  const Duration begun = job.first_start == kNever ? Duration{-1} : job.first_start - job.submitted;
  tell(std::get<Job::Offered>(job.doing).to,
       Submit{*job.spec, job.client, now - job.submitted, job.served, job.forwards + 1,
              job.attempts, job.preemptions, begun, job.requeued_by(now), job.failures});
  s.home.set_timer(job.spec->id, job, retry_at(job.backoff));
}

void HomeStep::moved_on(Job& job) {
  STARLING_MARK("agent: moved_on");
  const JobId id = job.spec->id;
  const AgentId to = std::get<Job::Offered>(job.doing).to;
  persist(JobMoved{id, to});
  ++s.counters.forwards;
  s.home.depart(job, JobFate::moved, now);
  s.home.set_timer(id, job, kNever);
  leave_others(job);
  s.home.remembered.moved[id] = Moved{to, job.forwards + 1, std::move(job.offered)};
  s.home.jobs.erase(id);
  s.home.remembered.add_moved(id, s.config.limits);
}

void HomeStep::on(NodeId from, const Accepted& accepted) {
  STARLING_MARK("agent: Accepted");
  const auto known = s.home.jobs.find(accepted.job);
  if (known == s.home.jobs.end() || !is_agent(from)) return;
  Job& job = known->second;
  if (is_answered(job, agent_of(from), accepted.offer)) return taken_elsewhere(job);
  // One that spoke the protocol of its number when the job was offered does so no more: how the job
  // is there has a number, too.
  if (accepted.offer == 0 && job.offered_to(agent_of(from)) != nullptr)
    tell(agent_of(from), Query{accepted.job});
}

/// The home that it is offered to says how it is there, in this stay or a later one.
void HomeStep::heard_of_offer(AgentId from, const JobState& state) {
  const auto known = s.home.jobs.find(state.job);
  if (known == s.home.jobs.end() || known->second.offered_to(from) == nullptr) return;
  if (state.phase == JobPhase::unknown || state.forwards <= known->second.forwards) return;
  STARLING_MARK("agent: how a job is elsewhere says that it was taken");
  taken_elsewhere(known->second);
}

void HomeStep::taken_elsewhere(Job& job) {
  JobState state = state_of(s, job, now);
  state.phase = JobPhase::moved;
  state.home = std::get<Job::Offered>(job.doing).to;
  const NodeId client = job.client;
  moved_on(job);
  if (client.value != 0) send(client, std::move(state));
}

void HomeStep::on(NodeId from, const Busy& busy) {
  STARLING_MARK("agent: Busy");
  const auto known = s.home.jobs.find(busy.job);
  if (known == s.home.jobs.end() || !is_agent(from)) return;
  Job& job = known->second;
  if (job.offered_to(agent_of(from)) == nullptr) return;
  s.home.set_timer(busy.job, job,
                   later(retry_at(job.backoff), std::chrono::milliseconds(busy.retry_ms)));
}

/// A refusal is final there, so the job can come home. Only an agent whose checks differ from ours
/// says so, as one of another version or with another topology.
void HomeStep::on(NodeId from, const Rejected& rejected) {
  const auto known = s.home.jobs.find(rejected.job);
  if (known == s.home.jobs.end() || !is_agent(from)) return;
  Job& job = known->second;
  if (!is_answered(job, agent_of(from), rejected.offer)) return;
  persist(JobOffered{rejected.job, me()});
  job.trouble = "agent " + std::to_string(agent_of(from).value) + " refused it: " + rejected.reason;
  wait_again(job, false);
}

}  // namespace starling
