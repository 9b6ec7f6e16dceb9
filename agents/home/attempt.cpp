// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "agents/step/home_step.h"
#include "base/check.h"
#include "base/marks.h"
#include "base/planted.h"
#include "workload/job_size.h"
#include "workload/requirements.h"

namespace starling {

namespace {

/// Where an agent's count of attempts begins: the places of all agents are as far apart as can be.
std::uint32_t first_count(AgentId agent) {
  std::uint32_t place = 0;
  for (unsigned bit = 0; bit < 32; ++bit) place |= ((agent.value >> bit) & 1U) << (31U - bit);
  return place;
}

/// What follows on an attempt that failed by itself.
AfterDrain after_failure(const Job& job, const ExitStatus& exit) {
  const bool again = job.failures < job.spec->terms.retries && !exit.timed_out;
  return again ? AfterDrain::again : AfterDrain::fail;
}

}  // namespace

/// A job that moves has homes that may be in the same life and epoch, and may have opened as many
/// attempts: their counts begin at different places, so that no two attempts share a name.
AttemptId HomeStep::open_attempt(const Job& job) {
  const std::uint32_t count = first_count(me()) + ++s.home.attempts_opened;
  return {job.spec->id, s.config.epoch, (s.config.incarnation.value << 32U) | count};
}

/// The whole gang in the own partition: no round of messages, one write, and the Launch leaves.
bool HomeStep::start_here(Job& job, const Placement& gpus, const Allocation& how) {
  STARLING_MARK("agent: start_here");
  if (!s.home.quota.may_start(job, gpus.size())) {
    job.trouble = beyond_quota(job, gpus.size());
    return false;
  }
  if (s.owner.kept_for_another(job.spec->id, gpus, now)) {
    job.trouble = "a gang that has waited for long has its turn here";
    return false;
  }
  const AttemptId id = open_attempt(job);
  if (const auto refusal = s.owner.ledger.allocate(id, me(), gpus, demand_of(*job.spec))) {
    job.trouble = std::string("the policy chose GPUs, CPUs or memory that cannot be had: ") +
                  name_of(*refusal);
    return false;
  }
  s.home.leave_waiting(job);
  const JobId job_id = job.spec->id;
  s.home.set_timer(job_id, job, kNever);
  Job::Run& run = job.doing.emplace<Job::Run>();
  run.attempt.id = id;
  run.attempt.parts.emplace_back();
  run.attempt.parts.back().share = {s.owner.partition.id, gpus};
  run.attempt.parts.back().agent = me();
  run.attempt.allocation = carried_out(job, how, gpus, gpus.size());
  run.started = now;
  job.placement = gpus;
  job.allocation = run.attempt.allocation;
  job.last = id;
  ++job.attempts;
  s.home.enter_running(job);

  OwnedShare& share = s.owner.shares[id];
  share.home = me();
  share.durable = true;
  share.spec = job.spec;
  share.gang = gang_of(run.attempt);
  share.served = job.served;
  share.allocation = job.allocation;
  share.task_groups = s.owner.task_groups_of(s.topology, gpus, TaskGroup::State::idle);
  persist(AttemptStarting{id, share.gang, job.allocation});
  // The job is in this journal already, so its record names it only.
  Commit commit{id, s.fence(), {}, share.gang, job.served, job.allocation};
  commit.spec.id = job_id;
  persist(ShareCommitted{id, me(), std::move(commit)});
  launch(id, share);
  s.flock.digest_due = true;
  return true;
}

void HomeStep::send_starts(Job& job) {
  STARLING_MARK("agent: send_starts");
  Job::Run& run = *job.run();
  for (Participant& part : run.attempt.parts) {
    if (part.started) continue;
    part.last_contact = now;  // what this one starts runs from now on, at the earliest
    tell(part.agent, StartAttempt{run.attempt.id, fence_of(part.share.partition)});
  }
  s.home.set_timer(job.spec->id, job, std::min(retry_at(job.backoff), run.deadline));
}

std::pair<Job*, Participant*> HomeStep::participant(NodeId from, AttemptId attempt,
                                                    PartitionId partition) {
  const auto known = s.home.jobs.find(attempt.job);
  if (known == s.home.jobs.end() || !known->second.has(attempt)) return {nullptr, nullptr};
  for (Participant& part : known->second.attempt()->parts) {
    if (part.share.partition != partition) continue;
    if (from == agent_node(part.agent)) {
      part.last_contact = now;
      return {&known->second, &part};
    }
    refuse();
  }
  return {nullptr, nullptr};
}

/// Later ones than the first change nothing.
void HomeStep::on(NodeId from, const Started& started) {
  STARLING_MARK("agent: Started");
  const auto [job, part] = participant(from, started.attempt, started.partition);
  if (job == nullptr || job->stage() != Stage::starting) return;
  part_started(*job, *part);
}

void HomeStep::part_started(Job& job, Participant& part) {
  part.started = true;
  Job::Run& run = *job.run();
  for (const Participant& p : run.attempt.parts) {
    if (!p.started) return;
  }
  run.whole = true;
  if (!run.dated) run.started = now;
  const bool again = job.waits_no_more(now);
  if (again || job.first_start == kNever) {
    if (!again) job.first_start = now;
    if (s.config.calendar) persist(s.past_of(job));
  }
  job.failed_rounds = 0;
  job.backoff = Duration{0};
  watch_participants(job);
  s.home.running.started(job);
  if (s.home.running.are_read()) change(TriggerKind::arrival);
  tell_client(job);
}

/// Stops every process of the attempt. The next one may start only when all have said Released.
void HomeStep::drain(Job& job, AfterDrain after, Placement restart_at,
                     const Allocation& restart_as) {
  STARLING_MARK("agent: drain");
  Job::Run* run = job.run();
  STARLING_CHECK(run != nullptr && !run->drain);
  run->drain = {after, std::move(restart_at), restart_as};
  run->told_to_stop = now;
  job.waits_no_more(run->started == kNever ? now : run->started);
  job.backoff = Duration{0};
  if (JobView* view = s.home.running.find(job)) view->blocked = true;
  std::string& tail = run->exit.log_tail;
  tail.resize(std::min<std::size_t>(tail.size(), s.config.limits.log_tail_bytes));
  persist(AttemptDraining{run->attempt.id});
  if (after != AfterDrain::wait) persist(plan_of(*run));
  send_releases(job);
  if (planted(Bug::next_attempt_at_once) && job.stage() == Stage::draining) drained(job);
}

void HomeStep::send_releases(Job& job) {
  STARLING_MARK("agent: send_releases");
  const Attempt& attempt = *job.attempt();
  for (const Participant& part : attempt.parts) {
    if (part.released) continue;
    tell(part.agent, Release{attempt.id, fence_of(part.share.partition)});
  }
  if (planted(Bug::release_not_repeated)) return s.home.set_timer(job.spec->id, job, kNever);
  if (job.stage() != Stage::draining) return;  // before Start: once, holds lapse or are asked about
  s.home.set_timer(job.spec->id, job, retry_at(job.backoff));
}

void HomeStep::on(NodeId from, const Released& released) {
  STARLING_MARK("agent: Released");
  const auto [job, part] = participant(from, released.attempt, released.partition);
  if (job == nullptr || job->stage() != Stage::draining || part->released) return;
  part->released = true;
  part->served = released.served;
  for (const Participant& p : job->attempt()->parts) {
    if (!p.released) return;
  }
  drained(*job);
}

void HomeStep::drained(Job& job) {
  STARLING_MARK("agent: drained");
  Job::Run& run = *job.run();
  const AfterDrain after = run.drain->after;
  const bool failed = after == AfterDrain::retry;
  // What every part has done is what a restart can count on.
  Duration served = Duration::max();
  for (const Participant& part : run.attempt.parts) served = std::min(served, part.served);
  job.served += served;
  run.started = kNever;
  job.stopped = now;
  if (run.told_to_stop != kNever) job.seen.restart_cost += now - run.told_to_stop;
  if (after == AfterDrain::cancel) return end(job, JobPhase::cancelled, std::move(run.exit));
  if (after == AfterDrain::fail) return end(job, JobPhase::failed, std::move(run.exit));
  if (job.spec->no_requeue) {
    STARLING_MARK("agent: a job is not started again, as it asked");
    const std::string why = failed ? job.trouble : "it was stopped";
    return end(job, JobPhase::failed,
               {0, false, "not started again, as it asked (requeue: no): " + why});
  }
  persist(AttemptOver{run.attempt.id, served});
  s.home.leave_running(job, true);
  s.home.set_timer(job.spec->id, job, kNever);
  if (failed) ++job.failed_rounds, ++job.lost_attempts;
  if (after == AfterDrain::again) {
    STARLING_MARK("agent: a job that failed is tried again");
    ++job.failures;
    job.failure = std::move(run.exit);
    job.not_before = later(now, job.spec->terms.pause_after(job.failures));
    job.trouble = "it failed with exit code " + std::to_string(job.failure.code);
    persist(s.standing_of(job));
  }
  if (job.first_start != kNever && s.config.calendar) {
    job.waits_since = now;
    persist(s.past_of(job));
  }
  Placement restart_at = std::move(run.drain->restart_at);
  const Allocation restart_as = run.drain->restart_as;
  job.doing = Job::Waiting{};
  if (after == AfterDrain::restart) {
    s.home.enter_waiting(job, false);
    if (start_again(job, std::move(restart_at), restart_as)) {
      change(TriggerKind::departure);
      return;
    }
  }
  const JobId id = job.spec->id;
  wait_again(job, failed);
  if (const auto still = s.home.jobs.find(id); still != s.home.jobs.end())
    tell_client(still->second);
}

/// After a resize: there or, with more workers than go there, as a gang whose other GPUs others are
/// asked for, all of the type of those here. No journal has the round: after a crash the job waits.
bool HomeStep::start_again(Job& job, Placement here, const Allocation& how) {
  const std::size_t gpus = std::max(here.size(), gpus_said(*job.spec, how));
  // One that knew copies may have become an earlier program meanwhile.
  if (!good_size(job, gpus, here, how)) return false;
  if (gpus == here.size()) return start_here(job, here, how);
  STARLING_MARK("agent: a gang of another size asks around");
  Spread spread{job.spec->id, std::move(here), std::nullopt, false, how};
  if (!spread.local.empty() && s.topology.gpu_types().size() > 1)
    spread.type = s.topology.type_of(spread.local.front());
  if (!open_round(job, spread)) return false;
  // Its round may have come to nothing already, and the job with it.
  if (const auto still = s.home.jobs.find(spread.job); still != s.home.jobs.end())
    tell_client(still->second);
  return true;
}

/// Acknowledged only once what follows from it is durable: its owner repeats it until then.
void HomeStep::on_home(NodeId from, const Exited& exited) {
  STARLING_MARK("agent: Exited at its home");
  if (!is_agent(from)) return refuse();
  const auto [job, part] = participant(from, exited.attempt, exited.partition);
  if (job == nullptr || job->run() == nullptr)
    return tell(agent_of(from), ExitedAck{exited.attempt, exited.partition});
  if (planted(Bug::exit_acknowledged_early)) {
    tell(agent_of(from), ExitedAck{exited.attempt, exited.partition});
  }
  Job::Run& run = *job->run();
  if (run.drain) return;  // its Release is on the way
  if (exited.exit.lost || exited.exit.code != 0) {
    run.exit = exited.exit;
    if (!exited.exit.lost) return drain(*job, after_failure(*job, exited.exit));
    job->trouble =
        "partition " + std::to_string(exited.partition.value) + " lost it: " + exited.exit.log_tail;
    return drain(*job, AfterDrain::retry);
  }
  part->exited = true;
  part->served = exited.served;
  if (run.exit.log_tail.empty()) run.exit = exited.exit;
  const auto& known = run.attempt.parts;
  if (!std::all_of(known.begin(), known.end(), [](const auto& p) { return p.exited; })) {
    // Its Started was lost, and will not be said again.
    if (job->stage() == Stage::starting) part_started(*job, *part);
    return;
  }
  Duration served = Duration::max();
  for (const Participant& p : run.attempt.parts) served = std::min(served, p.served);
  const Instant began = run.started == kNever ? now : run.started;
  if (job->first_start == kNever) job->first_start = began;
  job->waits_no_more(began);
  job->served += served;
  run.started = kNever;
  const std::vector<Participant> parts = std::move(run.attempt.parts);
  end(*job, JobPhase::finished, std::move(run.exit));
  for (const Participant& p : parts) {
    tell(p.agent, ExitedAck{exited.attempt, p.share.partition});
  }
}

/// An owner holds something for an attempt that it has not heard of for a while. Of a job that is
/// not known here at all nothing is said before all executors have spoken in this life; and of none
/// before the roll call is over: an old copy would have an attempt launched again that has ended.
void HomeStep::on(NodeId from, const AttemptQuery& query) {
  STARLING_MARK("agent: AttemptQuery");
  if (!is_agent(from)) return refuse();
  const JobId id = query.attempt.job;
  (void)participant(from, query.attempt, query.partition);  // a word from there
  const auto known = s.home.jobs.find(id);
  AttemptLife life = AttemptLife::dead;
  if (s.calling_roll()) {
    life = AttemptLife::not_ready;
  } else if (known != s.home.jobs.end()) {
    const Job& job = known->second;
    if (job.has(query.attempt) && job.stage() != Stage::draining) life = AttemptLife::live;
  } else if (!s.home.remembered.is_over(id) && !s.home.remembered.moved.contains(id) &&
             !s.owner.all_answered()) {
    life = AttemptLife::not_ready;
  }
  tell(agent_of(from), AttemptAnswer{query.attempt, life, query.token});
}

/// Of a gang one executor at least tells its pace. What it took to start is the time since then
/// less what the pace has needed for its work; once for each attempt, at the first word of it.
void HomeStep::see(Job& job, Job::Run& run, const Progress& progress) {
  if (progress.noise > 0) job.seen.noise_scale = progress.noise;
  if (progress.batch > 0) job.seen.batch = progress.batch;
  if (progress.rate > 0) {
    job.seen.pace = progress.rate;
    job.seen.at = now;
  }
  if (progress.rate > 0 && progress.served > Duration{0} && !std::exchange(run.gets_on, true) &&
      job.attempts > 1 && run.started != kNever && !run.dated) {
    const Duration worked = from_seconds(seconds(progress.served) / progress.rate);
    job.seen.restart_cost += std::max(Duration{0}, now - run.started - worked);
  }
  s.home.running.measured(job);
}

void HomeStep::on_home(NodeId from, const Progress& progress) {
  STARLING_MARK("agent: Progress at its home");
  const auto known = s.home.jobs.find(progress.attempt.job);
  if (known == s.home.jobs.end() || !known->second.has(progress.attempt) || !is_agent(from)) return;
  Job::Run* run = known->second.run();
  if (run == nullptr) return;
  run->measured = std::max(run->measured, progress.served);
  see(known->second, *run, progress);
  for (Participant& part : run->attempt.parts) {
    if (agent_node(part.agent) == from) part.last_contact = now;
  }
}

}  // namespace starling
