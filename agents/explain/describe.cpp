// SPDX-License-Identifier: Apache-2.0
#include "agents/explain/describe.h"

#include "agents/executor/executor_state.h"
#include "agents/step/state.h"
#include "base/hash.h"

namespace starling {
namespace {

/// Words with blanks between them; lines when told.
class Text {
 public:
  Text& operator<<(const char* word) { return add(word); }
  Text& operator<<(const std::string& word) { return add(word); }
  Text& operator<<(std::uint64_t n) { return add(std::to_string(n)); }
  Text& operator<<(Duration d) { return add(std::to_string(d.count()) + "ns"); }
  Text& operator<<(const JobId& id) { return add(to_string(id)); }
  Text& operator<<(const AttemptId& id) { return add(to_string(id)); }
  Text& operator<<(const Placement& gpus) {
    std::string word = "[";
    for (const GpuId gpu : gpus) word += std::to_string(gpu.value) + ",";
    return add(word + "]");
  }
  Text& operator<<(const std::vector<Share>& gang) {
    for (const Share& share : gang) *this << "in" << share.partition.value << share.gpus;
    return *this;
  }
  Text& operator<<(const ExitStatus& exit) {
    return add(exit.lost ? "lost" : "code " + std::to_string(exit.code))
           << "\"" << exit.log_tail << "\"";
  }
  Text& operator<<(const JobSpec& spec) {
    return *this << "gpus" << spec.gpus() << "workers" << spec.workers << "name" << spec.name;
  }
  /// Nothing where it runs as it asks.
  Text& operator<<(const Allocation& how) {
    return how.as_asked() ? *this : *this << "by" << allocation_text(how);
  }
  Text& operator<<(const std::vector<AgentId>& agents) {
    for (const AgentId agent : agents) *this << "agent" << agent.value;
    return *this;
  }
  void line() {
    text_ += '\n';
    blank_ = false;
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  Text& add(const std::string& word) {
    if (blank_) text_ += ' ';
    text_ += word;
    blank_ = true;
    return *this;
  }
  std::string text_;
  bool blank_ = false;
};

/// What a new life makes of it.
const char* durable_stage(Stage stage) {
  if (stage == Stage::draining || stage == Stage::offered) return name_of(stage);
  return phase_of(stage) == JobPhase::waiting ? "waiting" : "starting";
}

void add_job(Text& text, const JobId& id, const Job& job) {
  text << "job" << id << *job.spec << "order" << job.order << "client" << job.client.value
       << durable_stage(job.stage()) << "served" << job.served << "forwards" << job.forwards
       << "lost" << job.lost_attempts << "offered" << job.offered;
  if (job.held || job.failures > 0) text << "held" << (job.held ? 1U : 0U) << job.failures;
  if (job.forwards == 0 && job.met != 0) text << "met" << job.met;
  if (const Job::Run* run = job.run()) {
    text << "attempt" << run->attempt.id << gang_of(run->attempt) << run->attempt.allocation;
    if (const auto& drain = run->drain) {
      text << "then" << static_cast<std::uint64_t>(drain->after);
      if (drain->after != AfterDrain::wait)
        text << drain->restart_at << drain->restart_as << run->exit;
    }
  }
  text.line();
}

void add_ended(Text& text, const JobId& id, const JobState& over) {
  text << "ended" << id << name_of(over.phase) << "queued" << over.queued << "requeued"
       << over.requeued << "elapsed" << over.elapsed << "served" << over.served << "attempts"
       << over.attempts << over.placement << over.exit;
  text.line();
}

void add_stones(Text& text, const Tombstones& stones) {
  for (const auto& [attempt, stone] : stones.all()) {
    if (!stone.durable) continue;
    text << "over" << attempt << "served" << stone.served;
    text.line();
  }
}

void add_queues(Text& text, const AgentState& s) {
  const auto add = [&](const char* whose, const QueueTree& tree) {
    if (tree.version == 0) return;
    text << whose << tree.version << "fallback" << tree.fallback;
    for (const QueueSpec& queue : tree.queues) {
      text << "queue" << queue.name << queue.guaranteed << queue.most << queue.most_per_user
           << queue.weight;
      for (const std::string& user : queue.users) text << "user" << user;
    }
    text.line();
  };
  add("queues", s.home.quota.portions.tree());
  if (!s.keeper || s.keeper->tree().version == 0) return;
  add("keeps queues", s.keeper->tree());
  for (const PeerState& peer : s.flock.peers) {
    const QuotaPortions has = s.keeper->portions_of(peer.peer.agent);
    text << "portions of agent" << has.home.value << "at" << has.stamp.life.value
         << has.stamp.number << "tree" << has.tree;
    for (const QuotaPortions::Row& row : has.rows)
      text << "queue" << row.account.queue << row.account.user << row.may;
    text.line();
  }
}

std::uint64_t number(Instant at) {
  return static_cast<std::uint64_t>(at.time_since_epoch().count());
}

}  // namespace

std::string durable_state(const AgentState& s) {
  Text text;
  for (const auto& [id, job] : s.home.jobs) add_job(text, id, job);
  for (const auto& [id, over] : s.home.remembered.ended) add_ended(text, id, over);
  for (const auto& [id, gone] : s.home.remembered.moved) {
    if (s.home.jobs.contains(id) || s.home.remembered.is_over(id)) continue;  // it came back
    text << "moved" << id << "to" << gone.to.value << "forwards" << gone.forwards << "offered"
         << gone.offered;
    text.line();
  }
  for (const auto& [id, chunk] : s.home.remembered.archive.jobs()) {
    text << "archived" << id << "chunk" << chunk;
    text.line();
  }
  for (const auto& [id, offer] : s.home.remembered.archive.owed()) {
    text << "owed" << id << offer;
    text.line();
  }
  for (const auto& [attempt, share] : s.owner.shares) {
    if (!share.durable) continue;
    const Hold& hold = *s.owner.ledger.find(attempt);
    // What is being released is found again as launched: its home goes on asking for it.
    const bool launched = hold.phase != HoldPhase::committed;
    text << "share" << attempt << "home" << share.home.value << hold.gpus
         << (launched ? "launched" : "committed") << "served" << share.served << share.gang;
    text.line();
  }
  for (const PeerState& peer : s.flock.peers) {
    if (peer.epoch == Epoch{1}) continue;
    text << "epoch of partition" << peer.peer.partition.id.value << peer.epoch.value;
    text.line();
  }
  for (const ServerId server : s.owner.ledger.drained()) {
    text << "drained" << server.value;
    text.line();
  }
  for (const auto& [server, version] : s.owner.drain_versions) {
    text << "drain word" << server.value << version;
    text.line();
  }
  add_queues(text, s);
  add_stones(text, s.owner.ledger.tombstones());
  return text.take();
}

std::string durable_state(const ExecutorState& s) {
  Text text;
  text << "epoch" << s.epoch.value;
  text.line();
  for (const auto& [attempt, run] : s.runs) {
    text << "run" << attempt << run.launch.here << run.launch.gang << run.launch.spec;
    if (run.wanted) text << "wanted" << *run.wanted;
    if (run.phase == Run::Phase::stopping) text << "stopping" << run.exit;
    if (run.phase == Run::Phase::exited) text << "ended" << run.exit << "served" << run.served;
    text.line();
  }
  add_stones(text, s.forgotten);
  return text.take();
}

/// What is not durable of queues.
void add_quota(TraceHash& hash, const AgentState& s) {
  const HomeQuota& quota = s.home.quota;
  for (const auto& [account, has] : quota.portions.accounts()) {
    hash.add(account.queue);
    hash.add(account.user);
    hash.add((std::uint64_t{has.may} << 32U) | has.used);
    hash.add((std::uint64_t{has.let} << 32U) | has.back);
    hash.add(has.bound);
    hash.add((has.scarce ? 1U : 0U) | (has.over ? 2U : 0U));
  }
  hash.add((quota.open ? 1U : 0U) | (quota.look ? 2U : 0U) |
           static_cast<std::uint64_t>(quota.urge) << 2U);
  hash.add(quota.asked.number);
  hash.add(number(quota.timer));
  if (!s.keeper || !s.keeper->tree().limits()) return;
  for (const QueueUse& use : s.keeper->uses())
    hash.add((std::uint64_t{use.used} << 32U) | use.want);
}

std::uint64_t state_hash(const AgentState& s) {
  TraceHash hash;
  hash.add(durable_state(s));
  add_quota(hash, s);
  for (const auto& [id, job] : s.home.jobs) {
    hash.add(static_cast<std::uint64_t>(job.stage()));
    const Attempt none;
    const Attempt& attempt = job.attempt() ? *job.attempt() : none;
    hash.add(attempt.id.number);
    for (const Participant& part : attempt.parts) {
      hash.add((part.reserved ? 1U : 0U) | (part.committed ? 2U : 0U) | (part.started ? 4U : 0U) |
               (part.exited ? 8U : 0U) | (part.released ? 16U : 0U));
      hash.add(part.agent.value);
    }
    const bool bids = job.stage() == Stage::bidding;
    hash.add(bids ? job.round()->bids->asked.size() : 0);
    hash.add(bids ? job.round()->bids->offers.size() : 0);
    hash.add(number(job.timer));
    hash.add(job.failed_rounds);
  }
  for (const auto& [attempt, hold] : s.owner.ledger.holds()) {
    hash.add(to_string(attempt));
    hash.add(static_cast<std::uint64_t>(hold.phase));
    hash.add(hold.home.value);
    hash.add(number(hold.until));
    for (const GpuId gpu : hold.gpus) hash.add(gpu.value);
  }
  for (const auto& [attempt, share] : s.owner.shares) {
    hash.add(to_string(attempt));
    hash.add((share.exit_reported ? 1U : 0U) | (share.home_known ? 2U : 0U));
    hash.add(share.home.value);
    hash.add(share.denied.size());
    for (const TaskGroup& group : share.task_groups)
      hash.add(static_cast<std::uint64_t>(group.state));
    hash.add(number(share.timer));
  }
  hash.add(s.owner.ledger.tombstones().size());
  hash.add(s.owner.ledger.free_count());
  hash.add(s.owner.ledger.sick().size());
  hash.add(s.flock.probes.size());
  for (const OwnedExecutor& executor : s.owner.executors) {
    hash.add((executor.trusted ? 1U : 0U) | (executor.ever_answered ? 2U : 0U) |
             (executor.watch.foreign ? 4U : 0U));
    hash.add(number(executor.timer));
    hash.add(executor.starts.failures());
    hash.add(number(executor.starts.next()));
  }
  for (const PeerState& peer : s.flock.peers) {
    hash.add(peer.epoch.value * 4 + (peer.answered ? 2 : 0) + (peer.watch.foreign ? 1 : 0));
    hash.add(peer.digest ? peer.digest->version : 0);
  }
  hash.add((s.begun ? 1U : 0U) | (s.deciding.due ? 2U : 0U) | (s.flock.digest_due ? 4U : 0U));
  hash.add(s.home.attempts_opened);
  hash.add(s.home.arrivals);
  Rng rng = s.rng;
  hash.add(rng.next());
  return hash.value();
}

std::uint64_t state_hash(const ExecutorState& s) {
  TraceHash hash;
  hash.add(durable_state(s));
  for (const auto& [attempt, run] : s.runs) {
    hash.add(static_cast<std::uint64_t>(run.phase));
    hash.add((run.killed ? 1U : 0U) | (run.stands ? 2U : 0U));
    for (const RunPart& part : run.parts) hash.add(part.ended ? 1U : 0U);
    hash.add(run.token);
  }
  for (const auto& [when, attempt] : s.resends.all()) {
    hash.add(number(when));
    hash.add(to_string(attempt));
  }
  for (const std::uint8_t count : s.tenants) hash.add(count);
  hash.add(s.health * 2 + (s.health_seen ? 1 : 0));
  hash.add(s.forgotten.size());
  hash.add((s.begun ? 1U : 0U) | (s.welcomed ? 2U : 0U) | (s.agreed ? 4U : 0U));
  return hash.value();
}

}  // namespace starling
