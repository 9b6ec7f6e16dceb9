// SPDX-License-Identifier: Apache-2.0
// What agents tell one another of their partitions.
#include <algorithm>
#include <chrono>
#include <utility>

#include "agents/home/same_prices.h"
#include "agents/step/flock_step.h"
#include "agents/step/owner_step.h"
#include "base/marks.h"
#include "base/planted.h"
#include "base/to_ms.h"

namespace starling {
namespace {

constexpr int kRefreshDigests = 10;  // times Timers::digest: a lost digest is made good then
constexpr std::uint16_t kGossipProtocol = 4;  // its messages came with it
/// Where nothing gets lost news of others go along with an agent's own, or after so long: there
/// no agent renews its digest, and one that rested for good might be what a job waits for.
constexpr Duration kRest = std::chrono::minutes(10);
constexpr int kUnrenewed = 2;  // words that were due before the last one is doubted

/// What shares a GPU, and the policy's summary, go along with the rest and are no change alone.
bool same_content(const Digest& a, const Digest& b) {
  return a.fence == b.fence && a.gpus == b.gpus && a.free == b.free &&
         a.out_of_service == b.out_of_service && a.largest_free_server == b.largest_free_server &&
         a.whole_free_servers == b.whole_free_servers && a.waiting == b.waiting &&
         a.waiting_gpus == b.waiting_gpus && a.rooms == b.rooms &&
         std::ranges::equal(a.types, b.types,
                            [](const TypeRoom& x, const TypeRoom& y) {
                              return x.type == y.type && x.free == y.free && x.largest == y.largest;
                            }) &&
         same_prices(a.prices, b.prices);
}

}  // namespace

bool FlockStep::gossips() const { return s.flock.peers.size() > s.config.flood_most; }

/// Versions only rise; a repeat or an overtaken one is dropped.
void FlockStep::on(NodeId from, const Digest& digest) {
  STARLING_MARK("agent: Digest");
  if (!is_agent(from)) return refuse();
  PeerState& peer = s.flock.peers[agent_of(from).value];
  if (digest.fence.partition != peer.peer.partition.id) return refuse();
  const bool overtaken = gossips() ? !is_news(peer, digest, now)
                                   : peer.digest && digest.version <= peer.digest->version;
  if (overtaken && !planted(Bug::stale_digest_taken)) return;
  heard_epoch(peer, digest.fence.epoch);
  const bool changed = take(peer, digest, now);
  if (gossips()) s.flock.gossip.learn(peer.peer.agent, peer.peer.agent, digest.waiting > 0);
  if (changed) news();
}

/// That stands for the partition from now on. True: it says something else.
bool FlockStep::take(PeerState& peer, const Digest& digest, Instant said) {
  const bool changed = !peer.digest || !same_content(*peer.digest, digest);
  peer.digest = digest;
  peer.digest_at = said;
  return changed;
}

void FlockStep::news() {
  s.flock.digest_due = true;
  if (s.home.waiting_jobs() > 0) change(TriggerKind::digest);
}

/// Versions rise. One that is not renewed for long is not its owner's, whose later words would all
/// be dropped for it: it gives way to what was said later, and does not come back.
bool FlockStep::is_news(const PeerState& peer, const Digest& digest, Instant said) const {
  if (!peer.digest) return true;
  const bool higher = digest.version > peer.digest->version;
  if (digest.version == peer.digest->version || s.config.timers.digest == Duration::max())
    return higher;
  const Duration lasts = s.config.timers.digest * (kRefreshDigests * kUnrenewed);
  if (higher) return later(said, lasts) >= now || said > peer.digest_at;
  return later(peer.digest_at, lasts) < now && said > peer.digest_at;
}

/// Of each partition the newest word counts, whichever agent tells it. Only an owner's own word
/// says which epoch its partition is at; one that hears of a higher one asks the owner.
void FlockStep::on(NodeId from, const Digests& digests) {
  STARLING_MARK("agent: Digests");
  if (!is_agent(from)) return refuse();
  const auto bad = [&](const Digests::Word& word) {
    return s.flock.owner_of(word.digest.fence.partition) == nullptr;
  };
  if (std::ranges::any_of(digests.words, bad)) return refuse();
  const AgentId teller = agent_of(from);
  bool changed = false, told = false;
  for (const Digests::Word& word : digests.words) {
    const AgentId of = s.flock.owner_of(word.digest.fence.partition)->peer.agent;
    PeerState& peer = s.flock.peers[of.value];
    const Instant said = now - std::chrono::milliseconds(word.age_ms);
    if (of == me() || !is_news(peer, word.digest, said)) continue;
    if (of == teller) {
      heard_epoch(peer, word.digest.fence.epoch);
    } else if (word.digest.fence.epoch > peer.epoch) {
      STARLING_MARK("agent: hears of a new owner from another");
      peer.answered = false;  // asked again until it is
      greet(peer);
    }
    changed = take(peer, word.digest, said) || changed;
    told = true;
    s.flock.gossip.learn(of, teller, word.digest.waiting > 0);
  }
  if (changed) return news();
  if (told) s.flock.digest_due = true;
}

/// What is free here, and what waits.
void FlockStep::draft_digest() {
  // What is kept for a gang's turn is not told: no other job could have it.
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
  const auto prices = s.policy->prices().first(std::min(s.policy->prices().size(), kMostTypeRooms));
  digest.prices.assign(prices.begin(), prices.end());
  // Where there are no jobs the policy is not asked, and what it last said was of jobs.
  const bool idle = s.home.waiting_jobs() == 0 && !s.home.running.any();
  for (TypePrice& price : digest.prices) {
    if (idle) price.value = 0;
  }
}

/// Says what is free here once it has changed. Where nothing gets lost every change is told at
/// once; elsewhere when a job waits for it or the last digest is old.
void FlockStep::send_digests() {
  STARLING_MARK("agent: send_digests");
  s.flock.digest_due = false;
  s.flock.next_digest = kNever;
  if (s.flock.peers.size() < 2) return;
  draft_digest();
  const Timers& timers = s.config.timers;
  Digest& digest = s.flock.draft;
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
    gossips() ? say_to_few() : say_to_all();
    if (periodic) s.flock.next_digest = later(now, refresh);
  } else if (changed) {
    s.flock.next_digest = std::max(urgent ? earliest : due, later(now, Duration{1}));
  } else if (periodic) {
    s.flock.next_digest = later(s.flock.digest_sent, refresh);
  }
  if (gossips()) pass_on_news();
}

void FlockStep::say_to_all() {
  for (const PeerState& peer : s.flock.peers) {
    if (peer.peer.agent != me()) tell(peer.peer.agent, *s.flock.digest);
  }
}

/// Those who do not know Digests hear from all others themselves.
void FlockStep::say_to_few() {
  s.flock.gossip.learn(me(), me(), s.flock.digest->waiting > 0);
  for (const PeerState& peer : s.flock.peers) {
    if (peer.peer.agent != me() && peer.answered && peer.watch.protocol < kGossipProtocol)
      tell(peer.peer.agent, *s.flock.digest);
  }
  pass_on();
}

/// News do not wait until this agent has some of its own: it may never have any again.
void FlockStep::pass_on_news() {
  const Gossip& gossip = s.flock.gossip;
  const bool periodic = s.config.timers.digest < Duration::max();
  const Duration rest = periodic ? s.config.timers.digest : kRest;
  const Instant at = gossip.is_unheard() ? now
                     : gossip.has_news() ? later(s.flock.passed_on, rest)
                                         : kNever;
  if (at <= now) {
    pass_on();
  } else {
    s.flock.next_digest = std::min(s.flock.next_digest, at);
  }
}

void FlockStep::pass_on() {
  STARLING_MARK("agent: passes digests on");
  s.flock.passed_on = now;
  const auto listens = [&](AgentId agent) {
    const Watch& watch = s.flock.peers[agent.value].watch;
    return watch.protocol >= kGossipProtocol && reachable(watch);
  };
  const bool room = s.flock.digest && s.flock.digest->free > 0;
  for (const AgentId to : s.flock.gossip.next(room, listens)) tell_news(to);
}

void FlockStep::tell_news(AgentId to) {
  const std::vector<AgentId>& news = s.flock.gossip.words_for(to);
  if (news.empty()) return;
  Digests digests;
  for (const AgentId of : news) {
    const bool own = of == me();
    const PeerState& peer = s.flock.peers[of.value];
    const Duration age = now - (own ? s.flock.digest_sent : peer.digest_at);
    digests.words.push_back({own ? *s.flock.digest : *peer.digest, to_ms(age)});
  }
  tell(to, std::move(digests));
}

}  // namespace starling
