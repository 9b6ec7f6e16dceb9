#include "sim/node_hash.h"

#include <vector>

#include "agents/executor_state.h"
#include "agents/state.h"
#include "base/hash.h"
#include "bus/roles.h"
#include "store/record_codec.h"

namespace starling {
namespace {

std::uint64_t ticks(Instant at) {
  return static_cast<std::uint64_t>(at.time_since_epoch().count());
}

void add(TraceHash& hash, const AttemptId& id) {
  hash.add(id.job.hi);
  hash.add(id.job.lo);
  hash.add(id.home_epoch.value);
  hash.add(id.number);
}

void add(TraceHash& hash, const std::vector<Record>& records) {
  std::vector<std::byte> bytes;
  for (const Record& record : records) encode_record(record, bytes);
  hash.add(std::span<const std::byte>(bytes));
}

std::uint64_t hash_agent(const Agent& agent) {
  TraceHash hash;
  const AgentState& s = agent.state();
  add(hash, agent.snapshot());
  for (const auto& [id, job] : s.jobs) {
    hash.add(static_cast<std::uint64_t>(job.stage));
    hash.add(ticks(job.timer));
    for (const Participant& p : job.attempt.parts) {
      hash.add((p.reserved ? 1U : 0U) | (p.committed ? 2U : 0U) | (p.started ? 4U : 0U) |
               (p.exited ? 8U : 0U) | (p.released ? 16U : 0U));
    }
  }
  for (const auto& [attempt, hold] : s.ledger.holds()) {
    add(hash, attempt);
    hash.add(static_cast<std::uint64_t>(hold.phase));
    hash.add(ticks(hold.until));
  }
  for (const auto& [attempt, share] : s.shares) {
    for (const Piece& piece : share.pieces) hash.add(static_cast<std::uint64_t>(piece.state));
    hash.add(ticks(share.timer));
  }
  for (const SeatState& seat : s.seats) {
    hash.add(seat.answered ? 1 : 0);
    hash.add(ticks(seat.watch.heard));
  }
  for (const PeerState& peer : s.peers) {
    hash.add(peer.epoch.value);
    hash.add(ticks(peer.watch.heard));
    hash.add(peer.digest ? peer.digest->version : 0);
  }
  return hash.value();
}

std::uint64_t hash_executor(const Executor& executor) {
  TraceHash hash;
  const ExecutorState& s = executor.state();
  add(hash, executor.snapshot());
  for (const auto& [attempt, run] : s.runs) {
    add(hash, attempt);
    hash.add(static_cast<std::uint64_t>(run.phase) * 2 + (run.killed ? 1 : 0));
    hash.add(ticks(run.resend));
  }
  hash.add(s.epoch.value);
  hash.add(ticks(s.last_word));
  hash.add(ticks(s.beat));
  return hash.value();
}

std::uint64_t hash_client(const Client& client) {
  TraceHash hash;
  const Client::Counts& c = client.counts();
  for (const std::uint64_t n : {c.sent, c.accepted, c.rejected, c.started, c.finished, c.failed,
                                c.cancelled, c.busy, c.repeats}) {
    hash.add(n);
  }
  hash.add(ticks(client.next_deadline()));
  return hash.value();
}

}  // namespace

std::uint64_t hash_of(const Node& node) {
  switch (role_of(node.id())) {
    case Role::agent:
      return hash_agent(static_cast<const AgentNode&>(node).core());
    case Role::executor:
      return hash_executor(static_cast<const ExecutorNode&>(node).core());
    default:
      return hash_client(const_cast<ClientNode&>(static_cast<const ClientNode&>(node)).core());
  }
}

std::uint64_t refusals(const Node& node) {
  const NodeCounters& c = node.counters();
  return c.bad_frames + c.unauthorised + c.stale;
}

}  // namespace starling
