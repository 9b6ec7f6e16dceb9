// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "agents/agent/agent.h"
#include "agents/step/state.h"

namespace starling {
namespace {

/// It says more than its submission.
bool stands_otherwise(const Job& job) {
  const bool first = job.forwards == 0;
  return job.held != (first && job.spec->terms.hold) || job.failures > 0 || (first && job.met != 0);
}

void add_offers(JobId id, std::span<const AgentId> offered, std::vector<Record>& records) {
  for (const AgentId to : offered) records.push_back(JobOffered{id, to});
}

/// Where the job was offered in stays that are over, as of one that left and now comes back.
void add_earlier_stays(const Remembered& past, JobId id, const Job& job,
                       std::vector<Record>& records) {
  const auto* open = std::get_if<Job::Offered>(&job.doing);
  const bool again = open != nullptr && open->again;
  if (job.stay == 0 && !again) return;
  const auto gone = past.moved.find(id);
  const bool known = gone != past.moved.end();
  Submit submit;
  submit.spec.id = id;
  submit.forwards = (known ? gone->second.forwards : job.forwards - 1) - 1;
  records.push_back(JobAccepted{std::move(submit), 0});
  add_offers(id, std::span(job.offered).first(job.stay), records);
  if (again) records.push_back(JobOffered{id, open->to});
  records.push_back(JobMoved{id, known ? gone->second.to : job.offered.back()});
}

void add_queues(const AgentState& s, std::vector<Record>& records) {
  if (s.keeper) {
    for (Record& record : s.keeper->records()) records.push_back(std::move(record));
  } else if (s.home.quota.portions.tree().version > 0) {
    records.push_back(QueuesSet{s.home.quota.portions.tree()});
  }
}

}  // namespace

std::vector<Record> Agent::snapshot() const {
  const AgentState& s = *state_;
  std::vector<Record> records;
  records.push_back(LifeBegan{s.config.incarnation, s.config.epoch});
  for (const PeerState& peer : s.flock.peers)
    if (peer.epoch > Epoch{1}) records.push_back(EpochSeen{peer.peer.partition.id, peer.epoch});
  for (const auto& [number, chunk] : s.home.remembered.archive.chunks())
    records.push_back(JobsArchived{number, chunk.bytes, chunk.at, chunk.jobs, chunk.came});
  for (const JobId& id : s.home.remembered.ended_order)
    records.push_back(JobEnded{id, s.home.remembered.ended.at(id)});
  std::set<JobId> written;  // one that came back and left again is remembered twice
  for (const auto& [id, forwards] : s.home.remembered.moved_order) {
    const auto gone = s.home.remembered.moved.find(id);
    if (gone == s.home.remembered.moved.end() || s.home.jobs.contains(id) ||
        s.home.remembered.is_over(id))
      continue;
    if (!written.insert(id).second) continue;
    Submit submit;
    submit.spec.id = id;
    submit.forwards = gone->second.forwards - 1;
    records.push_back(JobAccepted{std::move(submit), 0});
    add_offers(id, gone->second.offered, records);
    records.push_back(JobMoved{id, gone->second.to});
  }
  if (!s.home.remembered.archive.owed().empty())
    records.push_back(s.home.remembered.archive.owed_record());
  for (const auto& [id, job] : s.home.jobs) {
    add_earlier_stays(s.home.remembered, id, job, records);
    const Duration waited = s.begun ? s.now - job.submitted : job.waited;
    records.push_back(
        JobAccepted{{*job.spec, job.client, waited, job.served, job.forwards}, job.order});
    JobPast past = s.past_of(job);
    const Job::Run* run = job.run();
    if (run) --past.attempts;  // its records count these again
    // A core that has not begun has not counted it again (Step::begin).
    if (s.begun && run && run->drain && run->drain->after == AfterDrain::wait) --past.preemptions;
    records.push_back(past);
    if (stands_otherwise(job)) records.push_back(s.standing_of(job));
    const auto of_this_stay = std::span(job.offered).subspan(job.stay);
    add_offers(id, of_this_stay, records);
    if (!of_this_stay.empty() && job.stage() != Stage::offered) {
      records.push_back(JobOffered{id, s.config.me});
    }
    if (!run) continue;
    records.push_back(
        AttemptStarting{run->attempt.id, gang_of(run->attempt), run->attempt.allocation});
    if (!run->drain) continue;
    records.push_back(AttemptDraining{run->attempt.id});
    if (run->drain->after != AfterDrain::wait) records.push_back(plan_of(*run));
  }
  for (const auto& [attempt, share] : s.owner.shares) {
    if (!share.durable) continue;  // found again by the next inventory
    Commit commit{attempt,    s.fence(),    share.spec ? *share.spec : JobSpec{},
                  share.gang, share.served, share.allocation};
    commit.spec.id = attempt.job;
    records.push_back(ShareCommitted{attempt, share.home, std::move(commit)});
    const HoldPhase phase = s.owner.ledger.find(attempt)->phase;
    const bool launched =
        std::any_of(share.task_groups.begin(), share.task_groups.end(),
                    [](const TaskGroup& group) { return group.state != TaskGroup::State::idle; });
    if (phase == HoldPhase::launched || (phase == HoldPhase::releasing && launched)) {
      records.push_back(ShareLaunched{attempt});
    }
  }
  for (const ServerId server : s.owner.ledger.drained())
    records.push_back(ServerDrained{server, true});
  for (const auto& [server, version] : s.owner.drain_versions)
    records.push_back(DrainVersion{server, version});
  add_queues(s, records);
  for (const AttemptId attempt : s.owner.ledger.tombstones().order()) {
    const Tombstone& stone = *s.owner.ledger.tombstones().find(attempt);
    if (!stone.durable) continue;
    records.push_back(ShareReleased{attempt});
    if (stone.served > Duration{0}) records.push_back(TombstoneServed{attempt, stone.served});
  }
  const Counters& all = s.counters;
  records.push_back(JobsCounted{all.accepted, all.finished, all.failed, all.cancelled});
  return records;
}

}  // namespace starling
