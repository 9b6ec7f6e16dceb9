// SPDX-License-Identifier: Apache-2.0
// What each kind of record does to what a journal says.
#include <algorithm>
#include <utility>
#include <variant>

#include "base/find_value.h"
#include "sim/check/durable.h"

namespace starling {
namespace {

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

std::string about(JobId id, const std::string& does) { return "job " + to_string(id) + does; }
std::string about(AttemptId id, const std::string& does) {
  return "attempt " + to_string(id) + does;
}

}  // namespace

Durable::Job* Durable::with(AttemptId attempt) {
  Job* job = find_value(jobs_, attempt.job);
  return job != nullptr && job->attempt == attempt ? job : nullptr;
}

/// Of a gang that one partition holds alone its home, which is its owner, says the end for both.
void Durable::release_own(AttemptId attempt) {
  const Held* held = find_value(held_, attempt);
  if (held != nullptr && held->home == me_ && held->gang.size() == 1) held_.erase(attempt);
}

/// Each says what cannot follow on what stands there; empty: it can.
struct Durable::Effects {
  Durable& d;

  std::string operator()(const LifeBegan& r) const {
    d.life_ = r.incarnation;
    d.epoch_ = std::max(d.epoch_, r.epoch);
    return {};
  }
  std::string operator()(const EpochSeen& r) const {
    Epoch& last = d.epochs_[r.partition];
    last = std::max(last, r.epoch);
    return {};
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }

  // Of a home.
  std::string operator()(const JobAccepted& r) const;
  std::string operator()(const AttemptStarting& r) const;
  std::string operator()(const AttemptDraining& r) const;
  std::string operator()(const AttemptPlan& r) const;
  std::string operator()(const AttemptOver& r) const;
  std::string operator()(const JobPast& r) const;
  std::string operator()(const JobStanding& r) const;
  std::string operator()(const JobOffered& r) const;
  std::string operator()(const JobMoved& r) const;
  std::string operator()(const JobEnded& r) const;
  std::string operator()(const JobsArchived& r) const;
  std::string operator()(const ArchiveDropped& r) const;
  std::string operator()(const OffersOwed& r) const;
  std::string operator()(const OffersSettled& r) const;

  std::string operator()(const QueuesSet& r) const;
  std::string operator()(const QuotaPortions& r) const;

  // Of an owner.
  std::string operator()(const ShareCommitted& r) const;
  std::string operator()(const ShareLaunched& r) const;
  std::string operator()(const ShareReleased& r) const { return bury(r.attempt, d.held_); }
  std::string operator()(const ServerDrained& r) const {
    r.drained ? (void)d.drained_.insert(r.server) : (void)d.drained_.erase(r.server);
    return {};
  }
  std::string operator()(const DrainVersion& r) const {
    d.words_[r.server] = r.version;
    return {};
  }
  std::string operator()(const TombstonesDropped& r) const {
    for (const AttemptId attempt : r.attempts) d.over_.erase(attempt);
    return {};
  }

  // Of an executor.
  std::string operator()(const ProcessLaunching& r) const;
  std::string operator()(const ProcessStopping& r) const;
  std::string operator()(const ProcessExited& r) const;
  std::string operator()(const ProcessForgotten& r) const { return bury(r.attempt, d.runs_); }

  template <class Map>
  std::string bury(AttemptId attempt, Map& from) const {
    from.erase(attempt);
    d.over_.insert(attempt);
    return {};
  }
};

std::string Durable::Effects::operator()(const JobAccepted& r) const {
  const JobId id = r.submit.spec.id;
  const bool twice = d.jobs_.contains(id);
  Job accepted;
  accepted.submit = r.submit;
  accepted.order = r.order;
  accepted.served = r.submit.served;
  accepted.held = r.submit.spec.terms.hold && r.submit.forwards == 0;
  accepted.met = r.submit.forwards == 0 ? 0 : ~std::uint64_t{0};
  accepted.failures = r.submit.failures;
  // Where it went before it came back stays known.
  if (const auto* gone = find_value(d.offered_before_, id)) accepted.offered = *gone;
  d.jobs_[id] = std::move(accepted);
  return twice ? about(id, " is accepted twice") : "";
}

std::string Durable::Effects::operator()(const AttemptStarting& r) const {
  Job* its = find_value(d.jobs_, r.attempt.job);
  if (its == nullptr) return about(r.attempt, " of no open job starts");
  const Stage stage = std::exchange(its->stage, Stage::starting);
  its->attempt = r.attempt;
  its->gang = r.gang;
  its->allocation = r.allocation;
  ++its->attempts;
  if (stage == Stage::waiting) return {};
  return about(r.attempt, std::string(" starts, and the job ") + name_of(stage));
}

std::string Durable::Effects::operator()(const AttemptDraining& r) const {
  Job* its = d.with(r.attempt);
  if (its == nullptr || its->stage != Stage::starting)
    return about(r.attempt, " is drained and was not open");
  its->stage = Stage::draining;
  its->after = AfterDrain::wait;
  return {};
}

std::string Durable::Effects::operator()(const AttemptPlan& r) const {
  Job* its = d.with(r.attempt);
  if (its == nullptr || its->stage != Stage::draining) return {};
  its->after = r.after;
  its->restart_at = r.restart_at;
  its->restart_as = r.restart_as;
  return {};
}

std::string Durable::Effects::operator()(const AttemptOver& r) const {
  d.release_own(r.attempt);
  Job* its = d.with(r.attempt);
  if (its == nullptr) return about(r.attempt, " is over and was not open");
  if (its->stage == Stage::draining && its->after == AfterDrain::wait) ++its->preemptions;
  if (its->stage == Stage::draining && its->after == AfterDrain::retry) ++its->lost_attempts;
  its->served += r.served;
  its->attempt = AttemptId{};
  its->gang.clear();
  its->allocation = its->restart_as = Allocation{};
  its->after = AfterDrain::wait;
  its->stage = Stage::waiting;
  return {};
}

std::string Durable::Effects::operator()(const JobPast& r) const {
  if (Job* its = find_value(d.jobs_, r.job)) {
    its->attempts = r.attempts;
    its->preemptions = r.preemptions;
    its->lost_attempts = r.lost_attempts;
  }
  return {};
}

std::string Durable::Effects::operator()(const JobStanding& r) const {
  Job* its = find_value(d.jobs_, r.job);
  if (its == nullptr) return about(r.job, " is kept back, and was not there");
  its->held = r.held;
  its->met = r.met;
  its->failures = r.failures;
  return {};
}

std::string Durable::Effects::operator()(const JobOffered& r) const {
  Job* its = find_value(d.jobs_, r.job);
  if (its == nullptr) return {};
  const bool is_home = r.to == d.me_;
  const Stage stage = std::exchange(its->stage, is_home ? Stage::waiting : Stage::offered);
  if (!is_home) {
    std::erase(its->offered, r.to);
    its->offered.push_back(r.to);
  }
  if (stage == Stage::waiting || stage == Stage::offered) return {};
  return about(r.job, std::string(" is offered, and ") + name_of(stage));
}

std::string Durable::Effects::operator()(const JobMoved& r) const {
  if (const Job* its = find_value(d.jobs_, r.job)) {
    d.moved_[r.job] = {r.to, its->submit.forwards + 1};
    d.offered_before_[r.job] = its->offered;
  }
  return d.jobs_.erase(r.job) == 0 ? about(r.job, " leaves, and was not there") : "";
}

std::string Durable::Effects::operator()(const JobEnded& r) const {
  if (const Job* its = find_value(d.jobs_, r.job)) d.release_own(its->attempt);
  d.jobs_.erase(r.job);
  d.ended_.emplace(r.job, r.state);
  return {};
}

std::string Durable::Effects::operator()(const JobsArchived& r) const {
  std::string wrong;
  for (const JobId& id : r.jobs) {
    if (!d.ended_.contains(id)) wrong = about(id, " is archived and open");
    d.archived_[id] = r.chunk;
  }
  d.came_[r.chunk] = r.came;
  return wrong;
}

std::string Durable::Effects::operator()(const ArchiveDropped& r) const {
  std::erase_if(d.archived_, [&](const auto& entry) {
    if (entry.second != r.chunk) return false;
    d.ended_.erase(entry.first);
    return true;
  });
  if (const auto* came = find_value(d.came_, r.chunk)) {
    for (const JobId& id : *came) d.owed_[id] = ~std::uint32_t{0};
  }
  d.came_.erase(r.chunk);
  return {};
}

std::string Durable::Effects::operator()(const OffersOwed& r) const {
  for (std::size_t i = 0; i < r.jobs.size(); ++i) {
    std::uint32_t& offer = d.owed_[r.jobs[i]];
    offer = std::max(offer, i < r.offers.size() ? r.offers[i] : ~std::uint32_t{0});
  }
  return {};
}

std::string Durable::Effects::operator()(const OffersSettled& r) const {
  std::string wrong;
  for (const JobId& id : r.jobs) {
    if (d.owed_.erase(id) == 0) wrong = about(id, " is settled, not owed");
  }
  return wrong;
}

std::string Durable::Effects::operator()(const QueuesSet& r) const {
  const std::uint64_t last = d.queues_.version;
  const bool other = r.tree.version < last || (r.tree.version == last && r.tree != d.queues_);
  d.queues_ = r.tree;
  if (!r.tree.fallback.empty()) {
    for (auto& [id, job] : d.jobs_)
      if (job.submit.spec.queue.empty()) job.submit.spec.queue = r.tree.fallback;
  }
  if (!other) return {};
  return "queues of version " + std::to_string(r.tree.version) + " follow on others of version " +
         std::to_string(last);
}

/// What the home goes by until its next ask is at most what stands here, so of one ask no portion
/// may fall.
std::string Durable::Effects::operator()(const QuotaPortions& r) const {
  const std::string home = "the portion of agent " + std::to_string(r.home.value);
  std::string wrong;
  if (const QuotaPortions* last = find_value(d.portions_, r.home)) {
    if (r.stamp < last->stamp) wrong = home + " is that of an earlier ask";
    for (const QuotaPortions::Row& was : last->rows) {
      if (r.stamp != last->stamp) break;
      const auto is = std::find_if(r.rows.begin(), r.rows.end(),
                                   [&](const auto& row) { return row.account == was.account; });
      const std::uint32_t may = is == r.rows.end() ? 0 : is->may;
      if (may < was.may) {
        wrong = home + " of queue " + was.account.queue + " falls from " + std::to_string(was.may) +
                " to " + std::to_string(may) + " GPUs, and it has not asked anew";
      }
    }
  }
  d.portions_[r.home] = r;
  return wrong;
}

std::string Durable::Effects::operator()(const ShareCommitted& r) const {
  // Of a gang that is wholly this partition's the decision to start stands before it.
  const bool own = r.home == d.me_ && r.commit.gang.size() == 1 && d.with(r.attempt) != nullptr;
  d.held_[r.attempt] = {r.home, r.commit.gang, own, r.commit.allocation};
  return d.over_.contains(r.attempt) ? about(r.attempt, " is committed after its release") : "";
}

std::string Durable::Effects::operator()(const ShareLaunched& r) const {
  Held* held = find_value(d.held_, r.attempt);
  if (held == nullptr) return about(r.attempt, " is launched and was not committed");
  held->launched = true;
  return {};
}

std::string Durable::Effects::operator()(const ProcessLaunching& r) const {
  const AttemptId id = r.launch.attempt;
  const bool again = d.over_.contains(id) || d.runs_.contains(id);
  d.runs_.emplace(id, Run{r.launch.here, {}, {}, {}, r.launch.allocation});
  return again ? about(id, " is launched a second time") : "";
}

std::string Durable::Effects::operator()(const ProcessStopping& r) const {
  Run* run = find_value(d.runs_, r.attempt);
  if (run == nullptr || run->stopping || run->exit)
    return about(r.attempt, " is stopped, and does not run");
  run->stopping = r.exit;
  return {};
}

std::string Durable::Effects::operator()(const ProcessExited& r) const {
  Run* run = find_value(d.runs_, r.attempt);
  if (run == nullptr || run->exit) return about(r.attempt, " exits, and does not run");
  const bool otherwise = run->stopping && *run->stopping != r.exit;
  run->stopping.reset();
  run->exit = r.exit;
  run->served = r.served;
  return otherwise ? about(r.attempt, " ends otherwise than was written") : "";
}

std::string Durable::apply(const Record& record) { return std::visit(Effects{*this}, record); }

}  // namespace starling
