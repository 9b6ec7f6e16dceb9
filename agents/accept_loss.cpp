// SPDX-License-Identifier: Apache-2.0
#include "agents/accept_loss.h"

#include <algorithm>
#include <map>

#include "agents/archive.h"

namespace starling {
namespace {

struct Open {
  JobState state;
  AttemptId attempt;
  AgentId to;
  enum class Stage : std::uint8_t { waiting, offered, starting, draining } stage = Stage::waiting;
  AfterDrain after = AfterDrain::wait;
};

struct Fold {
  AgentId me;
  std::map<JobId, Open> open{};

  Open* of(JobId job) {
    const auto at = open.find(job);
    return at == open.end() ? nullptr : &at->second;
  }
  Open* of(AttemptId attempt) {
    Open* job = of(attempt.job);
    return job == nullptr || job->attempt != attempt ? nullptr : job;
  }

  void operator()(const JobAccepted& r) {
    Open& job = open[r.submit.spec.id] = Open{};
    job.state.job = r.submit.spec.id;
    job.state.home = me;
    job.state.served = r.submit.served;
    job.state.forwards = r.submit.forwards;
    job.state.attempts = r.submit.attempts;
    job.state.preemptions = r.submit.preemptions;
    job.state.ask = ask_of(r.submit.spec);
  }
  void operator()(const JobPast& r) {
    Open* job = of(r.job);
    if (job == nullptr) return;
    job->state.attempts = r.attempts;
    job->state.preemptions = r.preemptions;
    job->state.submitted = r.submitted;
    job->state.requeued = r.requeued;
    job->state.begun = r.first_start >= Duration{0};
  }
  void operator()(const AttemptStarting& r) {
    Open* job = of(r.attempt.job);
    if (job == nullptr) return;
    job->attempt = r.attempt;
    job->stage = Open::Stage::starting;
    ++job->state.attempts;
    job->state.attempt_epoch = r.attempt.home_epoch;
    job->state.attempt_number = r.attempt.number;
  }
  void operator()(const AttemptDraining& r) {
    Open* job = of(r.attempt);
    if (job == nullptr) return;
    job->stage = Open::Stage::draining;
    job->after = AfterDrain::wait;
  }
  void operator()(const AttemptPlan& r) {
    if (Open* job = of(r.attempt)) job->after = r.after;
  }
  void operator()(const AttemptOver& r) {
    Open* job = of(r.attempt);
    if (job == nullptr) return;
    job->state.served += r.served;
    job->attempt = {};
    job->stage = Open::Stage::waiting;
  }
  void operator()(const JobOffered& r) {
    Open* job = of(r.job);
    if (job == nullptr) return;
    job->stage = r.to == me ? Open::Stage::waiting : Open::Stage::offered;
    job->to = r.to;
  }
  void operator()(const JobMoved& r) { open.erase(r.job); }
  void operator()(const JobEnded& r) { open.erase(r.job); }
  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace

std::map<JobId, std::uint32_t> jobs_known_to(std::span<const Record> journal) {
  std::map<JobId, std::uint32_t> jobs;
  const auto know = [&](const JobId& job, std::uint32_t offer) {
    std::uint32_t& known = jobs[job];
    known = std::max(known, offer);
  };
  const auto know_all = [&](const std::vector<JobId>& over) {
    for (const JobId& job : over) know(job, Archive::kAnyOffer);
  };
  // One that came back after it was forgotten is known by that; what is settled is of before.
  const auto know_settled = [&](const std::vector<JobId>& settled) {
    for (const JobId& job : settled) jobs.try_emplace(job, Archive::kAnyOffer);
  };
  for (const Record& record : journal) {
    if (const auto* accepted = std::get_if<JobAccepted>(&record))
      know(accepted->submit.spec.id, accepted->submit.forwards);
    else if (const auto* ended = std::get_if<JobEnded>(&record))
      know(ended->job, Archive::kAnyOffer);
    else if (const auto* archived = std::get_if<JobsArchived>(&record))
      know_all(archived->jobs);
    else if (const auto* settled = std::get_if<OffersSettled>(&record))
      know_settled(settled->jobs);
    else if (const auto* owed = std::get_if<OffersOwed>(&record)) {
      Archive owes;
      owes.owe(*owed);
      for (const auto& [job, offer] : owes.owed()) know(job, offer);
    }
  }
  return jobs;
}

OpenJobs end_open_jobs(AgentId me, std::span<const Record> journal, const std::string& why,
                       const HasJob& has) {
  Fold fold{me};
  for (const Record& record : journal) std::visit(fold, record);
  const ExitStatus unknown{-1, true, why};
  OpenJobs result;
  for (auto& [id, job] : fold.open) {
    using Stage = Open::Stage;
    if (job.stage == Stage::offered && has && !has(job.to, id, job.state.forwards + 1)) {
      result.records.push_back(JobOffered{id, me});  // taken back
      job.stage = Stage::waiting;
    }
    if (job.stage == Stage::offered) {
      result.records.push_back(JobMoved{id, job.to});
      result.given_away.push_back(id);
      continue;
    }
    if (job.stage == Stage::waiting) {
      job.state.phase = JobPhase::failed;
      job.state.exit = unknown;
      result.records.push_back(JobEnded{id, job.state});
    } else {
      if (job.stage == Stage::starting) result.records.push_back(AttemptDraining{job.attempt});
      const bool decided = job.stage == Stage::draining &&
                           (job.after == AfterDrain::cancel || job.after == AfterDrain::fail);
      if (decided) continue;
      result.records.push_back(AttemptPlan{job.attempt, AfterDrain::fail, {}, unknown});
    }
    result.failed.push_back(id);
  }
  return result;
}

}  // namespace starling
