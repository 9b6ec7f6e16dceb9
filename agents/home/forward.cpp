// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "agents/step/home_step.h"
#include "base/marks.h"

namespace starling {
namespace {

/// It waits for that home's answer.
bool is_offered(const Job& job, AgentId to) {
  const auto* offered = std::get_if<Job::Offered>(&job.doing);
  return offered != nullptr && offered->to == to;
}

}  // namespace

/// Gives the job away. False if that home had its chance: what it says then could be old.
bool HomeStep::offer_job(Job& job, AgentId to) {
  STARLING_MARK("agent: offer_job");
  if (to.value >= s.flock.peers.size() || to == me()) return false;
  if (std::find(job.offered.begin(), job.offered.end(), to) != job.offered.end()) return false;
  if (job.spec->terms.at_once > 0) return false;  // who counts its array is this home
  job.offered.push_back(to);
  persist(JobOffered{job.spec->id, to});
  s.home.leave_waiting(job);
  job.doing = Job::Offered{to};
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
  if (!is_offered(job, agent_of(from))) return;
  JobState state = state_of(s, job, now);
  state.phase = JobPhase::moved;
  state.home = agent_of(from);
  const NodeId client = job.client;
  moved_on(job);
  if (client.value != 0) send(client, std::move(state));
}

void HomeStep::on(NodeId from, const Busy& busy) {
  STARLING_MARK("agent: Busy");
  const auto known = s.home.jobs.find(busy.job);
  if (known == s.home.jobs.end() || !is_agent(from)) return;
  Job& job = known->second;
  if (!is_offered(job, agent_of(from))) return;
  s.home.set_timer(busy.job, job,
                   later(retry_at(job.backoff), std::chrono::milliseconds(busy.retry_ms)));
}

/// A refusal is final there, so the job can come home. Only an agent whose checks differ from ours
/// says so, as one of another version or with another topology.
void HomeStep::on(NodeId from, const Rejected& rejected) {
  const auto known = s.home.jobs.find(rejected.job);
  if (known == s.home.jobs.end() || !is_agent(from)) return;
  Job& job = known->second;
  if (!is_offered(job, agent_of(from))) return;
  persist(JobOffered{rejected.job, me()});
  job.trouble = "agent " + std::to_string(agent_of(from).value) + " refused it: " + rejected.reason;
  wait_again(job, false);
}

}  // namespace starling
