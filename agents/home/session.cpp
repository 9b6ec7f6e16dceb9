// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include "agents/step/owner_step.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {
namespace {

constexpr int kRefreshDigests = 10;         // times Timers::digest: a lost digest is made good then
constexpr std::uint64_t kOldestHealth = 1;  // real versions have a life in their upper half

std::string hex(std::uint64_t number) {
  std::ostringstream text;
  text << std::hex << number;
  return text.str();
}

/// Who shares a GPU, and the policy's summary, go along with the rest and are no change alone.
bool same_content(const Digest& a, const Digest& b) {
  return a.fence == b.fence && a.gpus == b.gpus && a.free == b.free &&
         a.out_of_service == b.out_of_service && a.largest_free_server == b.largest_free_server &&
         a.whole_free_servers == b.whole_free_servers && a.waiting == b.waiting &&
         a.waiting_gpus == b.waiting_gpus && a.rooms == b.rooms &&
         std::ranges::equal(a.types, b.types, [](const TypeRoom& x, const TypeRoom& y) {
           return x.type == y.type && x.free == y.free && x.largest == y.largest;
         });
}

}  // namespace

/// Said again with each heartbeat until it is answered.
void FlockStep::greet(const PeerState& peer) {
  tell(peer.peer.agent, Hello{Role::agent, kOldestProtocol, s.config.protocol, {}, topology()});
}

/// What this agent says that it has read. Those of the first protocol say nothing.
std::uint64_t FlockStep::topology() const { return s.config.protocol < 2 ? 0 : s.config.topology; }

bool FlockStep::is_other_topology(std::uint64_t theirs) const {
  return theirs != 0 && topology() != 0 && theirs != topology();
}

bool FlockStep::is_foreign(NodeId node) {
  const Watch* watch = watch_of(node);
  return watch != nullptr && watch->foreign;
}

/// From an executor: perhaps a new life, so what runs there has to be compared again. One that has
/// read another topology means other GPUs by the same numbers: its own are quarantined.
void OwnerStep::on(NodeId from, const Hello& hello) {
  STARLING_MARK("agent: Hello");
  const std::uint16_t mine = s.config.protocol;
  const bool foreign = hello.protocol_min > mine || hello.protocol_max < kOldestProtocol;
  if (foreign && !planted(Bug::other_protocol_welcomed)) {
    return send(from, Goodbye{"agent " + std::to_string(me().value) + " speaks protocols " +
                              std::to_string(kOldestProtocol) + " to " + std::to_string(mine) +
                              ", and you " + std::to_string(hello.protocol_min) + " to " +
                              std::to_string(hello.protocol_max)});
  }
  const bool other = is_other_topology(hello.topology);
  if (Watch* watch = watch_of(from)) watch->foreign = other;
  if (other) {
    STARLING_MARK("agent: a node has read another topology");
    send(from, Goodbye{"agent " + std::to_string(me().value) + " has read another topology (" +
                       hex(topology()) + ") than you (" + hex(hello.topology) +
                       "); give both the same file and start the wrong one again"});
  } else {
    send(from, Welcome{s.fence(), topology()});
  }
  OwnedExecutor* executor = executor_at(from);
  if (executor == nullptr) return;
  // An older copy's lives have lower numbers than were heard of, and so have the versions of what
  // it says of its GPUs. Its inventory has the newest; of protocol 1 it has none, and undoes all.
  executor->health = std::min(executor->health, kOldestHealth);
  if (executor->trusted) {
    executor->trusted = false;
    s.owner.ledger.distrust(executor->servers);
    s.flock.digest_due = true;
  }
  if (executor->asked != now) request_inventory(*executor);
}

/// Written down, because an owner that was deposed and does not know it yet must not be believed by
/// this home's next life: it would say that an attempt which it never heard of is over.
void FlockStep::heard_epoch(PeerState& peer, Epoch epoch) {
  if (epoch <= peer.epoch) return;
  peer.epoch = epoch;
  persist(EpochSeen{peer.peer.partition.id, epoch});
}

void FlockStep::on(NodeId from, const Welcome& welcome) {
  STARLING_MARK("agent: Welcome");
  if (!is_agent(from)) return refuse();
  PeerState& peer = s.flock.peers[agent_of(from).value];
  if (welcome.fence.partition != peer.peer.partition.id) return refuse();
  heard_epoch(peer, welcome.fence.epoch);
  peer.answered = true;
  peer.watch.foreign = is_other_topology(welcome.topology);
}

/// It was perhaps said to an earlier life, so Hello goes on being said until there is a Welcome.
void FlockStep::on(NodeId from, const Goodbye&) {
  if (!is_agent(from)) return;
  PeerState& peer = s.flock.peers[agent_of(from).value];
  peer.answered = false;
  peer.watch.foreign = true;
}

/// An executor that has seen a higher epoch obeys somebody else; an owner says which epoch counts.
void FlockStep::on(NodeId from, const Fenced& fenced) {
  STARLING_MARK("agent: Fenced");
  const PeerState* owner = s.flock.owner_of(fenced.partition);
  if (!is_agent(from) || owner == nullptr || agent_node(owner->peer.agent) != from) return refuse();
  heard_epoch(s.flock.peers[owner->peer.agent.value], fenced.epoch);
}

/// Versions only rise; a repeat or an overtaken one is dropped.
void FlockStep::on(NodeId from, const Digest& digest) {
  STARLING_MARK("agent: Digest");
  if (!is_agent(from)) return refuse();
  PeerState& peer = s.flock.peers[agent_of(from).value];
  if (digest.fence.partition != peer.peer.partition.id) return refuse();
  const bool overtaken = peer.digest && digest.version <= peer.digest->version;
  if (overtaken && !planted(Bug::stale_digest_taken)) return;
  heard_epoch(peer, digest.fence.epoch);
  const bool changed = !peer.digest || !same_content(*peer.digest, digest);
  peer.digest = digest;
  peer.digest_at = now;
  if (!changed) return;
  s.flock.digest_due = true;
  if (s.home.waiting_jobs() > 0) change(TriggerKind::digest);
}

/// Says what is free here once it has changed. Where nothing gets lost every change is told at
/// once; elsewhere when somebody waits for it or the last word is old.
void FlockStep::send_digests() {
  STARLING_MARK("agent: send_digests");
  s.flock.digest_due = false;
  s.flock.next_digest = kNever;
  if (s.flock.peers.size() < 2) return;
  const Timers& timers = s.config.timers;
  // What is kept for somebody's turn is not told: nobody else could have it.
  const Occupancy& gpus = s.owner.open_to(std::nullopt, now);
  const Occupancy& all = s.owner.ledger.gpus();
  Digest& digest = s.flock.draft;
  digest.fence = s.fence();
  digest.gpus = gpus.gpus().size();
  digest.free = gpus.free_count();
  digest.out_of_service = digest.gpus - all.free_count() - all.busy_count();
  digest.largest_free_server = gpus.largest_free_server();
  digest.whole_free_servers =
      s.owner.server_gpus > 0 ? gpus.whole_free_count(s.owner.server_gpus) : 0;
  digest.waiting = s.home.waiting_jobs();
  digest.waiting_gpus = s.home.waiting_gpus;
  s.flock.free_now.sync(gpus);
  s.flock.free_now.rooms(digest.types);
  s.flock.rooms_now.read(gpus, digest.rooms);
  const auto summary = s.policy->summary();
  digest.summary.assign(summary.begin(), summary.begin() + std::min<std::ptrdiff_t>(
                                                               std::ssize(summary), kMostSummary));

  const bool periodic = timers.digest < Duration::max();
  const Duration refresh = periodic ? timers.digest * kRefreshDigests : Duration::max();
  const bool changed = !s.flock.digest || !same_content(*s.flock.digest, digest);
  const bool first = !s.flock.digest;
  const Instant due = first ? now : later(s.flock.digest_sent, timers.digest);
  const Instant earliest = first ? now : later(s.flock.digest_sent, timers.digest_min);
  const bool asked =
      std::any_of(s.flock.peers.begin(), s.flock.peers.end(),
                  [&](const PeerState& peer) { return peer.digest && peer.digest->waiting > 0; });
  const bool urgent = !periodic || asked || first || digest.waiting != s.flock.digest->waiting;
  const bool stale = periodic && !first && later(s.flock.digest_sent, refresh) <= now;
  if ((changed && earliest <= now && (urgent || due <= now)) || stale) {
    digest.version = (s.config.incarnation.value << 32U) | ++s.flock.digests;
    s.flock.digest = digest;
    s.flock.digest_sent = now;
    for (const PeerState& peer : s.flock.peers) {
      if (peer.peer.agent != me()) tell(peer.peer.agent, digest);
    }
    if (periodic) s.flock.next_digest = later(now, refresh);
    return;
  }
  if (changed) {
    s.flock.next_digest = std::max(urgent ? earliest : due, later(now, Duration{1}));
  } else if (periodic) {
    s.flock.next_digest = later(s.flock.digest_sent, refresh);
  }
}

}  // namespace starling
