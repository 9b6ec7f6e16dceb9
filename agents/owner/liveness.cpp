// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "agents/parts/watch.h"
#include "agents/step/owner_step.h"
#include "base/marks.h"

namespace starling {
namespace {

constexpr int kSilentBeats = 4;        // then a node is silent, times the local health's factor
constexpr int kAnswerBeats = 2;        // a probe's
constexpr int kVerdictBeats = 3;       // after the question, with time for its way
constexpr std::uint32_t kProbers = 2;  // asked about one node
constexpr std::size_t kProbesMost = 256;
constexpr std::size_t kFewest = 3;  // of so many watched ones most can be silent

}  // namespace

Watch* FlockStep::watch_of(NodeId node) {
  if (is_agent(node))
    return node == agent_node(me()) ? nullptr : &s.flock.peers[node.value - 1].watch;
  OwnedExecutor* executor = executor_at(node);
  return executor == nullptr ? nullptr : &executor->watch;
}

/// Any word is a sign of life.
void FlockStep::heard(NodeId from, std::uint16_t protocol) {
  Watch* watch = watch_of(from);
  if (watch != nullptr) watch->protocol = protocol;
  if (!s.lossy()) return;
  if (watch != nullptr) {
    watch->last_heard = now;
    watch->standing = Standing::well;
    watch->asked = kNever;
  }
  if (OwnedExecutor* executor = executor_at(from)) executor->lost = false;
  std::erase_if(s.flock.probes, [&](const Probe& probe) {
    if (probe.node != from) return false;
    tell(probe.asker, ProbeResult{from, true});
    return true;
  });
}

bool FlockStep::reachable(const Watch& watch) const {
  if (watch.foreign) return false;
  if (!s.lossy()) return true;
  return now - watch.last_heard <= s.config.timers.heartbeat * kSilentBeats + watch.lag;
}

/// Longer than reachable(): to suspect a node takes more than not to rely on it.
bool FlockStep::silent(const Watch& watch) const {
  const Duration patience = s.config.timers.heartbeat * kSilentBeats * s.flock.health.factor();
  return s.lossy() && now - watch.last_heard > patience + watch.lag;
}

/// Asks two others, which can be heard, whether they hear `node`.
void FlockStep::ask_about(NodeId node, Watch& watch) {
  watch.asked = now;
  watch.askers = 0;
  if (s.config.protocol < 2) return;
  for (std::size_t i = 0; i < s.flock.peers.size() && watch.askers < kProbers; ++i) {
    const PeerState& peer = s.flock.peers[s.flock.probers++ % s.flock.peers.size()];
    const NodeId prober = agent_node(peer.peer.agent);
    if (prober == agent_node(me()) || prober == node || peer.watch.protocol < 2) continue;
    if (!reachable(peer.watch)) continue;
    tell(peer.peer.agent, ProbeFor{node});
    ++watch.askers;
  }
}

/// From silence to a verdict, which later answers may change.
void FlockStep::judge(NodeId node, Watch& watch) {
  const Duration beat = s.config.timers.heartbeat;
  if (!silent(watch)) return;
  // Old executors answer their owner alone.
  const bool answers = node.value < kFirstExecutor || watch.protocol >= 2;
  if (watch.asked == kNever) {
    watch.standing = Standing::silent;
    answers ? ask_about(node, watch) : void(watch.asked = now);
  } else if (now - watch.asked >= beat * kVerdictBeats) {
    // No answer at all says more about the way to those that were asked than about the node.
    const bool certain = watch.askers == 0 || watch.indirect_nack >= watch.asked;
    if (watch.indirect_ack >= watch.asked) {
      watch.standing = Standing::cut_off;
    } else if (certain) {
      watch.standing = Standing::lost;
    }
    if (now - watch.asked >= beat * kSilentBeats && answers) ask_about(node, watch);
  }
}

/// Silence counts only while this agent listens: what arrived while it could not run a cycle has
/// been read by now, what was lost meanwhile is no fault of others.
void FlockStep::forgive(Duration lag) {
  const auto wake = [&](Watch& watch) {
    watch.last_heard = std::min(now, later(watch.last_heard, lag));
  };
  for (PeerState& peer : s.flock.peers) wake(peer.watch);
  for (OwnedExecutor& executor : s.owner.executors) wake(executor.watch);
}

/// Pings go only where nothing else was heard. A silent executor's free GPUs go to no job.
void OwnerStep::heartbeat() {
  STARLING_MARK("agent: heartbeat");
  const Duration beat = s.config.timers.heartbeat;
  const Duration lag = now - s.beat;
  s.beat = later(now, beat);
  if (lag >= beat) forgive(lag);
  std::size_t watched = 0, quiet = 0;
  const auto count = [&](const Watch& watch) {
    ++watched;
    if (now - watch.last_heard > 2 * beat) ++quiet;
  };
  for (const PeerState& peer : s.flock.peers) {
    if (peer.peer.agent != me()) count(peer.watch);
  }
  for (const OwnedExecutor& executor : s.owner.executors) count(executor.watch);
  s.flock.health.beat(lag, beat, watched >= kFewest && quiet * 2 > watched);

  for (PeerState& peer : s.flock.peers) {
    if (peer.peer.agent == me()) continue;
    if (now - peer.watch.last_heard >= beat) tell(peer.peer.agent, Ping{++s.flock.pings});
    if (!peer.answered && now - peer.watch.last_heard < beat) greet(peer);
    judge(agent_node(peer.peer.agent), peer.watch);
  }
  for (OwnedExecutor& executor : s.owner.executors) {
    if (now - executor.watch.last_heard >= beat) send(executor.node, Ping{++s.flock.pings});
    judge(executor.node, executor.watch);
    if (!executor.lost && !executor.trusted &&
        lost(std::max(executor.watch.last_heard, executor.launch_sent)))
      executor_lost(static_cast<std::uint32_t>(&executor - s.owner.executors.data()));
    if (!executor.trusted || !silent(executor.watch)) continue;
    executor.trusted = false;
    s.owner.ledger.distrust(executor.servers);
    s.flock.digest_due = true;
    request_inventory(executor);
  }
  std::erase_if(s.flock.probes, [&](const Probe& probe) {
    if (probe.deadline > now) return false;
    tell(probe.asker, ProbeResult{probe.node, false});
    return true;
  });
}

void FlockStep::on(NodeId from, const Ping& ping) {
  const auto us =
      std::chrono::duration_cast<std::chrono::microseconds>(s.flock.health.lag()).count();
  send(from, Pong{ping.sequence,
                  static_cast<std::uint32_t>(std::clamp<std::int64_t>(us, 0, UINT32_MAX))});
}

/// A node that says it is slow is given as much more time, up to what this agent would give itself.
void FlockStep::on(NodeId from, const Pong& pong) {
  Watch* watch = watch_of(from);
  if (watch == nullptr || !s.lossy()) return;
  const Duration most = s.config.timers.heartbeat * kSilentBeats * (LocalHealth::kMost - 1);
  watch->lag = std::min<Duration>(2 * std::chrono::microseconds(pong.loop_lag_us), most);
}

/// Answered at once where there is fresh news, else by heard() or heartbeat(). A repeat changes
/// nothing.
void FlockStep::on(NodeId from, const ProbeFor& probe) {
  if (!is_agent(from) || !s.lossy()) return refuse();
  const NodeId node = probe.node;
  const bool agent = is_agent(node) && node != agent_node(me());
  const bool executor = node.value >= kFirstExecutor && node.value < kFirstClient;
  if ((!agent && !executor) || node == from) return refuse();
  const Watch* watch = watch_of(node);
  if (watch != nullptr && now - watch->last_heard < s.config.timers.heartbeat)
    return tell(agent_of(from), ProbeResult{node, true});
  const bool known = std::any_of(s.flock.probes.begin(), s.flock.probes.end(), [&](const Probe& p) {
    return p.node == node && p.asker == agent_of(from);
  });
  if (known || s.flock.probes.size() >= kProbesMost) return;
  s.flock.probes.push_back(
      {node, agent_of(from), later(now, s.config.timers.heartbeat * kAnswerBeats)});
  send(node, Ping{++s.flock.pings});
}

/// That another agent hears a node changes a verdict at once; that it does not, after a while.
void FlockStep::on(NodeId from, const ProbeResult& result) {
  if (!is_agent(from)) return refuse();
  Watch* watch = watch_of(result.node);
  if (watch == nullptr) return;
  (result.reached ? watch->indirect_ack : watch->indirect_nack) = now;
  if (!result.reached) return;
  if (watch->standing != Standing::well) watch->standing = Standing::cut_off;
}

}  // namespace starling
