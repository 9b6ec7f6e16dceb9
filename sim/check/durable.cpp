// SPDX-License-Identifier: Apache-2.0
#include "sim/check/durable.h"

#include <algorithm>
#include <variant>

namespace starling {
namespace {

template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

template <class Map, class Key>
auto* value_of(Map& map, const Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

const char* name_of(Durable::Stage stage) {
  switch (stage) {
    case Durable::Stage::waiting:
      return "waits";
    case Durable::Stage::offered:
      return "is offered to another home";
    case Durable::Stage::starting:
      return "has an open attempt";
    case Durable::Stage::draining:
      return "is being drained";
  }
  return "";
}

}  // namespace

bool operator==(const Durable::Job& a, const Durable::Job& b) {
  return a.submit.spec.id == b.submit.spec.id && a.submit.spec.gpus() == b.submit.spec.gpus() &&
         a.submit.client == b.submit.client && a.submit.forwards == b.submit.forwards &&
         a.order == b.order && a.stage == b.stage && a.attempt == b.attempt && a.gang == b.gang &&
         a.allocation == b.allocation && a.restart_as == b.restart_as && a.after == b.after &&
         a.served == b.served && a.attempts == b.attempts && a.preemptions == b.preemptions &&
         a.lost_attempts == b.lost_attempts && a.offered == b.offered;
}

const Durable::Job* Durable::open(JobId job) const { return value_of(jobs_, job); }
const JobState* Durable::ended(JobId job) const { return value_of(ended_, job); }
const Durable::Held* Durable::held(AttemptId attempt) const { return value_of(held_, attempt); }

Durable::Job* Durable::with(AttemptId attempt) {
  Job* job = value_of(jobs_, attempt.job);
  return job != nullptr && job->attempt == attempt ? job : nullptr;
}

/// Of a gang that one partition holds alone its home, which is its owner, says the end for both.
void Durable::release_own(AttemptId attempt) {
  const Held* held = value_of(held_, attempt);
  if (held != nullptr && held->home == me_ && held->gang.size() == 1) held_.erase(attempt);
}

std::string Durable::start(const AttemptStarting& record) {
  Job* job = value_of(jobs_, record.attempt.job);
  if (job == nullptr) return "attempt " + to_string(record.attempt) + " of no open job starts";
  const Stage stage = job->stage;
  job->attempt = record.attempt;
  job->gang = record.gang;
  job->allocation = record.allocation;
  job->stage = Stage::starting;
  ++job->attempts;
  if (stage == Stage::waiting) return {};
  return "attempt " + to_string(record.attempt) + " starts, and the job " + name_of(stage);
}

std::string Durable::apply(const Record& record) {
  std::string wrong;
  const auto drop_job = [&](JobId id) {
    if (jobs_.erase(id) == 0) wrong = "job " + to_string(id) + " leaves, and was not there";
  };
  const auto drop = [&](AttemptId attempt, auto& from) {
    from.erase(attempt);
    over_.insert(attempt);
  };
  const Cases effects{
      [&](const LifeBegan& r) {
        life_ = r.incarnation;
        epoch_ = std::max(epoch_, r.epoch);
      },
      [&](const JobAccepted& r) {
        const JobId id = r.submit.spec.id;
        if (jobs_.contains(id)) wrong = "job " + to_string(id) + " is accepted twice";
        Job job;
        job.submit = r.submit;
        job.order = r.order;
        job.served = r.submit.served;
        // Where it went before it came back stays known.
        if (const auto gone = offered_before_.find(id); gone != offered_before_.end())
          job.offered = gone->second;
        jobs_[id] = std::move(job);
      },
      [&](const AttemptStarting& r) { wrong = start(r); },
      [&](const AttemptDraining& r) {
        Job* job = with(r.attempt);
        if (job == nullptr || job->stage != Stage::starting) {
          wrong = "attempt " + to_string(r.attempt) + " is drained and was not open";
          return;
        }
        job->stage = Stage::draining;
        job->after = AfterDrain::wait;
      },
      [&](const AttemptPlan& r) {
        Job* job = with(r.attempt);
        if (job == nullptr || job->stage != Stage::draining) return;
        job->after = r.after;
        job->restart_at = r.restart_at;
        job->restart_as = r.restart_as;
      },
      [&](const AttemptOver& r) {
        release_own(r.attempt);
        Job* job = with(r.attempt);
        if (job == nullptr) {
          wrong = "attempt " + to_string(r.attempt) + " is over and was not open";
          return;
        }
        if (job->stage == Stage::draining && job->after == AfterDrain::wait) ++job->preemptions;
        if (job->stage == Stage::draining && job->after == AfterDrain::retry) ++job->lost_attempts;
        job->served += r.served;
        job->attempt = AttemptId{};
        job->gang.clear();
        job->allocation = job->restart_as = Allocation{};
        job->after = AfterDrain::wait;
        job->stage = Stage::waiting;
      },
      [&](const JobPast& r) {
        Job* job = value_of(jobs_, r.job);
        if (job == nullptr) return;
        job->attempts = r.attempts;
        job->preemptions = r.preemptions;
        job->lost_attempts = r.lost_attempts;
      },
      [&](const JobOffered& r) {
        Job* job = value_of(jobs_, r.job);
        if (job == nullptr) return;
        if (job->stage != Stage::waiting && job->stage != Stage::offered)
          wrong = "job " + to_string(r.job) + " is offered, and " + name_of(job->stage);
        job->stage = r.to == me_ ? Stage::waiting : Stage::offered;
        if (r.to != me_) job->offered.push_back(r.to);
      },
      [&](const JobMoved& r) {
        if (const Job* job = value_of(jobs_, r.job)) {
          moved_[r.job] = {r.to, job->submit.forwards + 1};
          offered_before_[r.job] = job->offered;
        }
        drop_job(r.job);
      },
      [&](const JobEnded& r) {
        if (const Job* job = value_of(jobs_, r.job)) release_own(job->attempt);
        jobs_.erase(r.job);
        ended_.emplace(r.job, r.state);
      },
      [&](const JobsArchived& r) {
        for (const JobId& id : r.jobs) {
          if (!ended_.contains(id)) wrong = "job " + to_string(id) + " is archived and open";
          archived_[id] = r.chunk;
        }
        came_[r.chunk] = r.came;
      },
      [&](const ArchiveDropped& r) {
        std::erase_if(archived_, [&](const auto& entry) {
          if (entry.second != r.chunk) return false;
          ended_.erase(entry.first);
          return true;
        });
        if (const auto* came = value_of(came_, r.chunk)) owed_.insert(came->begin(), came->end());
        came_.erase(r.chunk);
      },
      [&](const OffersOwed& r) { owed_.insert(r.jobs.begin(), r.jobs.end()); },
      [&](const OffersSettled& r) {
        for (const JobId& id : r.jobs) {
          if (owed_.erase(id) == 0) wrong = "job " + to_string(id) + " is settled, not owed";
        }
      },
      [&](const ShareCommitted& r) {
        if (over_.contains(r.attempt))
          wrong = "attempt " + to_string(r.attempt) + " is committed after its release";
        // Of a gang that is wholly this partition's the decision to start stands before it.
        const bool own = r.home == me_ && r.commit.gang.size() == 1 && with(r.attempt) != nullptr;
        held_[r.attempt] = {r.home, r.commit.gang, own, r.commit.allocation};
      },
      [&](const ShareLaunched& r) {
        Held* held = value_of(held_, r.attempt);
        if (held != nullptr) held->launched = true;
        if (held == nullptr)
          wrong = "attempt " + to_string(r.attempt) + " is launched and was not committed";
      },
      [&](const ShareReleased& r) { drop(r.attempt, held_); },
      [&](const ServerDrained& r) {
        r.drained ? (void)drained_.insert(r.server) : (void)drained_.erase(r.server);
      },
      [&](const DrainVersion& r) { words_[r.server] = r.version; },
      [&](const TombstoneServed&) {},
      [&](const TombstonesDropped& r) {
        for (const AttemptId attempt : r.attempts) over_.erase(attempt);
      },
      [&](const EpochSeen& r) {
        Epoch& last = epochs_[r.partition];
        last = std::max(last, r.epoch);
      },
      [&](const ProcessLaunching& r) {
        const AttemptId attempt = r.launch.attempt;
        if (over_.contains(attempt) || runs_.contains(attempt))
          wrong = "attempt " + to_string(attempt) + " is launched a second time";
        runs_.emplace(attempt, Run{r.launch.here, {}, {}, {}, r.launch.allocation});
      },
      [&](const ProcessStopping& r) {
        Run* run = value_of(runs_, r.attempt);
        if (run == nullptr || run->stopping || run->exit) {
          wrong = "attempt " + to_string(r.attempt) + " is stopped, and does not run";
          return;
        }
        run->stopping = r.exit;
      },
      [&](const ProcessExited& r) {
        Run* run = value_of(runs_, r.attempt);
        if (run == nullptr || run->exit) {
          wrong = "attempt " + to_string(r.attempt) + " exits, and does not run";
          return;
        }
        if (run->stopping && *run->stopping != r.exit)
          wrong = "attempt " + to_string(r.attempt) + " ends otherwise than was written";
        run->stopping.reset();
        run->exit = r.exit;
        run->served = r.served;
      },
      [&](const ProcessForgotten& r) { drop(r.attempt, runs_); },
      [&](const auto&) {},
  };
  std::visit(effects, record);
  return wrong;
}

void Durable::read(std::span<const Record> records) {
  for (const Record& record : records) (void)apply(record);
  for (const auto& [id, chunk] : archived_) {
    JobState over;
    over.job = id;
    ended_.try_emplace(id, std::move(over));
  }
}

std::string Durable::compacted(std::span<const Record> records) {
  Durable next(me_);
  std::string wrong;
  for (const auto& [id, chunk] : archived_) {  // a snapshot says no more than where they are
    if (const JobState* state = ended(id)) next.ended_.emplace(id, *state);
  }
  for (const Record& record : records) {
    std::string not_so = next.apply(record);
    if (wrong.empty()) wrong = std::move(not_so);
  }
  if (wrong.empty()) wrong = differs_from(next);
  *this = std::move(next);
  return wrong.empty() ? wrong : "the snapshot: " + wrong;
}

}  // namespace starling
