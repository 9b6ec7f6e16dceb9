// SPDX-License-Identifier: Apache-2.0
// The keeper of the flock's queues, which is the agent of partition 0: it tells all others the
// tree, and hands out what each home may use of it. What is written down in a step is durable
// before what the same step says leaves, so a portion is before the grant that gives it.
#include <algorithm>
#include <utility>

#include "agents/step/home_step.h"
#include "base/marks.h"
#include "base/planted.h"

namespace starling {

/// From an operator to the keeper; a repeat of the tree in force changes nothing and is answered
/// again. Or from the keeper to a home (quota.cpp).
void HomeStep::on(NodeId from, const SetQueues& set) {
  if (is_agent(from)) return from == agent_node(AgentId{0}) ? take_queues(set.tree) : refuse();
  STARLING_MARK("agent: SetQueues from an operator");
  const auto refused = [&](Refusal why, std::string reason) {
    QueuesState state;
    state.tree = s.keeper ? s.keeper->tree() : s.home.quota.portions.tree();
    if (s.keeper) state.tree.version = s.keeper->newest();
    state.why = why;
    state.reason = std::move(reason);
    send(from, std::move(state));
  };
  if (!by.is_operator) {
    return refused(Refusal::denied, "this is the key of '" + by.user +
                                        "': operators of the flock alone change its queues");
  }
  if (!s.keeper) return send(from, queues_state());
  if (s.calling_roll()) return;  // it is said again
  if (std::string who = who_knows_no_queues(); !who.empty())
    return refused(Refusal::not_ready, std::move(who));
  bool changed = false;
  if (std::string wrong = s.keeper->set(set.tree, changed); !wrong.empty())
    return refused(Refusal::invalid, std::move(wrong));
  if (changed) {
    persist(QueuesSet{set.tree});
    for (const PeerState& peer : s.flock.peers) tell_queues(peer.peer.agent);
  }
  send(from, queues_state());
}

void HomeStep::on(NodeId from, const QueuesQuery&) {
  STARLING_MARK("agent: QueuesQuery");
  if (s.calling_roll()) return;  // what an old copy knows may have changed; it is asked again
  send(from, queues_state());
}

/// Its newest word counts, and is answered as often as it is said, as QuotaKeeper says. During the
/// roll call this may be an old copy, which would give a portion twice: it is said again.
void HomeStep::on(NodeId from, const QuotaAsk& ask) {
  STARLING_MARK("agent: QuotaAsk");
  if (!is_agent(from) || !s.keeper) return refuse();
  if (s.calling_roll()) return;
  // Late, or of a life on an old copy of the journal, which counts anew from this answer on.
  if (!s.keeper->heard(agent_of(from), ask, now))
    return tell(agent_of(from), s.keeper->grant_for(agent_of(from)));
  share_out_queues();
  if (ask.tree < s.keeper->tree().version) tell_queues(agent_of(from));
}

/// A life after which a roll is called may be one on an old copy, in which homes may have more than
/// stands here: those that can be heard say first what they have.
bool HomeStep::knows_homes() const {
  return s.config.roll_call == Duration{0} ||
         std::ranges::all_of(s.flock.peers, [this](const PeerState& peer) {
           return peer.peer.agent == me() || s.keeper->has_said(peer.peer.agent) ||
                  peer.watch.protocol < kQueuesProtocol || !reachable(peer.watch);
         });
}

void HomeStep::share_out_queues() {
  for (const AgentId home : s.keeper->share_out(now, knows_homes())) {
    if (!planted(Bug::quota_not_durable)) persist(s.keeper->portions_of(home));
    tell(home, s.keeper->grant_for(home));
  }
}

/// An agent that knows no queues would start jobs beyond them; empty: all that there are know them.
std::string HomeStep::who_knows_no_queues() const {
  for (const PeerState& peer : s.flock.peers) {
    if (peer.peer.agent == me() || peer.watch.protocol >= kQueuesProtocol) continue;
    const std::string agent = "agent " + std::to_string(peer.peer.agent.value);
    if (!peer.answered) return agent + " has not been heard yet: try again once it runs";
    return agent + " speaks protocol " + std::to_string(peer.watch.protocol) +
           ", which knows no queues: bring every agent to this version first";
  }
  return {};
}

/// Of an agent that is not the keeper: the tree that it goes by, and whom to ask for the rest.
QueuesState HomeStep::queues_state() const {
  QueuesState state;
  state.tree = s.home.quota.portions.tree();
  if (!s.keeper) {
    state.why = Refusal::invalid;
    state.reason = "agent " + std::to_string(me().value) +
                   " does not keep the queues: ask agent 0, which does";
    return state;
  }
  state.tree = s.keeper->tree();
  if (const std::uint64_t newest = s.keeper->newest(); newest > state.tree.version) {
    state.reason = "agents go by queues of version " + std::to_string(newest) +
                   ", which agent 0 has lost: nothing more is given out until queues are set anew";
    state.tree.version = newest;  // others are to follow on that
  }
  state.uses = s.keeper->uses();
  state.uses.resize(std::min(state.uses.size(), QueuesState::kMostUses));
  state.unaware = s.keeper->unaware();
  return state;
}

/// Perhaps a new life of it. On an old copy of its journal it may go by an older tree or by none,
/// and then says nothing by itself; and a keeper that has lost its tree hears so which version
/// there was.
void HomeStep::on(NodeId from, const Hello& hello) {
  OwnerStep::on(from, hello);
  if (!is_agent(from) || from == agent_node(me())) return;
  if (s.keeper && s.keeper->tree().version > 0) {
    s.keeper->doubt(agent_of(from));
    tell_queues(agent_of(from));
  } else if (from == agent_node(AgentId{0}) && s.home.quota.portions.tree().version > 0) {
    s.home.quota.say(HomeQuota::Urge::now);
  }
}

/// What homes want is not durable, so each is asked to say it again.
void HomeStep::begin_keeping() {
  if (s.keeper->tree().version == 0) return;
  for (const PeerState& peer : s.flock.peers) {
    if (peer.peer.agent != me()) tell_queues(peer.peer.agent);
  }
}

void HomeStep::tell_queues(AgentId home) { tell(home, SetQueues{s.keeper->tree()}); }

/// With each heartbeat: the tree to those that have not asked under it in this life, and what has
/// come to be due to those that wait.
void HomeStep::mind_homes() {
  if (s.calling_roll() || s.keeper->tree().version == 0) return;
  for (const AgentId home : s.keeper->to_tell()) {
    if (home == me() || reachable(s.flock.peers[home.value].watch)) tell_queues(home);
  }
  if (s.keeper->goes_on()) share_out_queues();
}

}  // namespace starling
