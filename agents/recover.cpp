#include <algorithm>

#include "agents/agent.h"
#include "agents/step.h"

namespace starling {
namespace {

/// One record of an earlier life at a time. What contradicts the earlier ones is ignored: the
/// journal is checked where it is read.
struct Replay {
  AgentState& s;

  Job* job_of(AttemptId attempt) {
    const auto known = s.jobs.find(attempt.job);
    if (known == s.jobs.end() || known->second.attempt.id != attempt) return nullptr;
    return &known->second;
  }
  /// The home's record implies the end of a share that was the whole gang.
  void drop_own_share(AttemptId attempt) {
    const auto share = s.shares.find(attempt);
    if (share == s.shares.end() || share->second.home != s.config.me) return;
    if (share->second.gang.size() != 1) return;
    s.ledger.forget(attempt);
    s.drop_share(attempt);
  }

  void operator()(const LifeBegan&) {}
  void operator()(const JobAccepted& r) {
    const JobId id = r.submit.spec.id;
    std::vector<AgentId> offered;
    if (const auto gone = s.moved.find(id); gone != s.moved.end()) offered = gone->second.offered;
    Job& job = s.jobs[id];
    job = Job{};
    job.spec = std::make_shared<const JobSpec>(r.submit.spec);
    job.client = r.submit.client;
    job.order = r.order;
    job.waited = r.submit.waited;
    job.served = r.submit.served;
    job.forwards = r.submit.forwards;
    job.offered = std::move(offered);
    s.orders = std::max(s.orders, r.order);
  }
  void operator()(const AttemptStarting& r) {
    const auto known = s.jobs.find(r.attempt.job);
    if (known == s.jobs.end()) return;
    Job& job = known->second;
    job.attempt = Attempt{};
    job.attempt.id = r.attempt;
    for (const Share& share : r.gang) {
      const PeerState* owner = s.owner_of(share.partition);
      if (owner == nullptr) continue;
      job.attempt.parts.emplace_back();
      job.attempt.parts.back().share = share;
      job.attempt.parts.back().agent = owner->peer.agent;
    }
    job.placement = all_gpus(job.attempt);
    job.stage = Stage::starting;
    ++job.attempts;
  }
  void operator()(const AttemptDraining& r) {
    Job* job = job_of(r.attempt);
    if (job == nullptr) return;
    job->stage = Stage::draining;
    job->after = AfterDrain::wait;
  }
  void operator()(const AttemptOver& r) {
    drop_own_share(r.attempt);
    Job* job = job_of(r.attempt);
    if (job == nullptr) return;
    job->served += r.served;
    job->attempt = Attempt{};
    job->stage = Stage::waiting;
  }
  void operator()(const JobOffered& r) {
    const auto known = s.jobs.find(r.job);
    if (known == s.jobs.end()) return;
    Job& job = known->second;
    job.stage = r.to == s.config.me ? Stage::waiting : Stage::offered;
    if (r.to != s.config.me) job.offered.push_back(r.to);
  }
  void operator()(const JobMoved& r) {
    const auto known = s.jobs.find(r.job);
    if (known == s.jobs.end()) return;
    s.moved[r.job] = Moved{r.to, known->second.forwards + 1, std::move(known->second.offered)};
    s.jobs.erase(known);
    s.remember(r.job);
  }
  void operator()(const JobEnded& r) {
    if (const auto known = s.jobs.find(r.job); known != s.jobs.end()) {
      drop_own_share(known->second.attempt.id);
      s.jobs.erase(known);
    }
    if (s.ended.emplace(r.job, r.state).second) s.remember(r.job);
  }
  void operator()(const ShareCommitted& r) {
    const auto own = std::find_if(r.commit.gang.begin(), r.commit.gang.end(),
                                  [&](const Share& g) { return g.partition == s.partition.id; });
    if (own == r.commit.gang.end()) return;
    const Job* job = r.home == s.config.me ? job_of(r.attempt) : nullptr;
    // Of a gang that is wholly ours the decision to start stands before the share.
    const HoldPhase phase = job != nullptr ? HoldPhase::launched : HoldPhase::committed;
    if (!s.ledger.adopt(r.attempt, r.home, own->gpus, phase)) return;
    OwnedShare& share = s.shares[r.attempt];
    share.home = r.home;
    share.gang = r.commit.gang;
    share.served = r.commit.served;
    std::size_t gpus = 0;
    for (const Share& part : r.commit.gang) gpus += part.gpus.size();
    share.spec =
        job != nullptr ? sized(job->spec, gpus) : std::make_shared<const JobSpec>(r.commit.spec);
    share.pieces =
        s.pieces_of(own->gpus, job != nullptr ? Piece::State::unknown : Piece::State::idle);
  }
  void operator()(const ShareLaunched& r) {
    const auto known = s.shares.find(r.attempt);
    if (known == s.shares.end()) return;
    s.ledger.launched(r.attempt);
    for (Piece& piece : known->second.pieces) piece.state = Piece::State::unknown;
  }
  void operator()(const ShareReleased& r) {
    s.ledger.release(r.attempt, Duration{0});
    s.drop_share(r.attempt);
  }
  void operator()(const ServerDrained& r) {
    if (s.partition.servers.contains(r.server.value)) s.ledger.set_drained(r.server, r.drained);
  }
  template <class OfExecutors>
  void operator()(const OfExecutors&) {}
};

}  // namespace

void AgentState::replay(const Record& record) { std::visit(Replay{*this}, record); }

std::vector<Record> Agent::snapshot() const {
  const AgentState& s = *state_;
  std::vector<Record> records;
  records.push_back(LifeBegan{s.config.incarnation, s.config.epoch});
  const auto offers = [&](JobId id, const std::vector<AgentId>& offered) {
    for (const AgentId to : offered) records.push_back(JobOffered{id, to});
  };
  for (const JobId id : s.remembered) {
    if (const auto over = s.ended.find(id); over != s.ended.end()) {
      records.push_back(JobEnded{id, over->second});
    } else if (const auto gone = s.moved.find(id); gone != s.moved.end()) {
      Submit submit;
      submit.spec.id = id;
      submit.forwards = gone->second.forwards - 1;
      records.push_back(JobAccepted{std::move(submit), 0});
      offers(id, gone->second.offered);
      records.push_back(JobMoved{id, gone->second.to});
    }
  }
  for (const auto& [id, job] : s.jobs) {
    const Duration waited = s.begun ? s.now - job.submitted : job.waited;
    records.push_back(
        JobAccepted{{*job.spec, job.client, waited, job.served, job.forwards}, job.order});
    offers(id, job.offered);
    if (!job.offered.empty() && job.stage != Stage::offered) {
      records.push_back(JobOffered{id, s.config.me});
    }
    if (phase_of(job.stage) == JobPhase::waiting) continue;
    records.push_back(AttemptStarting{job.attempt.id, gang_of(job.attempt)});
    if (job.stage == Stage::draining) records.push_back(AttemptDraining{job.attempt.id});
  }
  for (const auto& [attempt, share] : s.shares) {
    if (!share.home_known) continue;  // found again by the next inventory
    Commit commit{attempt, s.fence(), share.spec ? *share.spec : JobSpec{}, share.gang,
                  share.served};
    commit.spec.id = attempt.job;
    records.push_back(ShareCommitted{attempt, share.home, std::move(commit)});
    const HoldPhase phase = s.ledger.find(attempt)->phase;
    const bool launched =
        std::any_of(share.pieces.begin(), share.pieces.end(),
                    [](const Piece& piece) { return piece.state != Piece::State::idle; });
    if (phase == HoldPhase::launched || (phase == HoldPhase::releasing && launched)) {
      records.push_back(ShareLaunched{attempt});
    }
  }
  for (const ServerId server : s.ledger.drained()) records.push_back(ServerDrained{server, true});
  for (const AttemptId attempt : s.ledger.tombstones()) records.push_back(ShareReleased{attempt});
  return records;
}

}  // namespace starling
