// SPDX-License-Identifier: Apache-2.0
// Links that are cut, slow, or damage what they pass.
#include <algorithm>

#include "launch/chaos/simulated/scenario_faults.h"

namespace starling::chaos_live {
namespace {

bool holds(const std::vector<NodeId>& nodes, NodeId node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

bool ScenarioFaults::Noise::meets(NodeId from, NodeId to) const {
  const auto other = [this](NodeId node) { return second.empty() || holds(second, node); };
  return (direction != Direction::in && holds(first, from) && other(to)) ||
         (direction != Direction::out && holds(first, to) && other(from));
}

/// Of one alone: its links with everybody, the authority among them. Links within the first set go
/// on: a rack that is cut off is whole in itself.
void ScenarioFaults::cut(World& world, const FaultSpec& spec, const Nodes& first,
                         const Nodes& second, double lasts_s) {
  const bool to_authority = spec.who.size() == 2 && spec.who[1].kind == FaultTarget::Kind::etcd;
  const bool alone = spec.who.size() == 1;
  if (etcd() && (alone || to_authority)) {
    for (const NodeId node : first) {
      if (is_agent(node)) part_from_authority(world, agent_of(node), lasts_s);
    }
  }
  if (to_authority) return;
  const bool has_agent =
      std::any_of(first.begin(), first.end(), [this](NodeId n) { return is_agent(n); });
  if (etcd() && alone && has_agent && spec.direction == Direction::both)
    return cut_region(world, first, lasts_s);
  for (const NodeId a : first) {
    for (const NodeId b : nodes_) {
      if (alone ? holds(first, b) : !holds(second, b) || a == b) continue;
      if (spec.direction != Direction::in) cut_link(world, a, b, lasts_s);
      if (spec.direction != Direction::out) cut_link(world, b, a, lasts_s);
    }
  }
}

void ScenarioFaults::cut_link(World& world, NodeId from, NodeId to, double lasts_s) {
  const Place a = world.place_of(from), b = world.place_of(to);
  if (++cuts_[{a, b}] == 1) world.network().cut(a, b, true);
  later(world, lasts_s, [this, a, b](World& w) {
    if (--cuts_[{a, b}] == 0) w.network().cut(a, b, false);
  });
}

/// By place and not by link: an agent that takes over is elsewhere, and hears none of them.
void ScenarioFaults::cut_region(World& world, const Nodes& nodes, double lasts_s) {
  const std::uint32_t region = ++regions_;
  std::vector<Place> places;
  for (const NodeId node : nodes) {
    const Place place = world.place_of(node);
    if (world.network().region_of(place) != 0) continue;  // cut off already, for its own time
    world.network().move(place, region);
    places.push_back(place);
  }
  later(world, lasts_s, [places](World& w) {
    for (const Place place : places) w.network().move(place, 0);
  });
}

void ScenarioFaults::part_from_authority(World& world, AgentId agent, double lasts_s) {
  const NodeId node = agent_node(agent);
  ++no_authority_[node];
  may_be_taken_over(world, agent, lasts_s);
  later(world, lasts_s, [this, node](World& w) {
    const auto at = no_authority_.find(node);
    if (at == no_authority_.end()) return;  // another agent is the owner
    if (--at->second == 0) no_authority_.erase(at);
    renews_again(w, node);
  });
}

void ScenarioFaults::swizzle(World& world, NodeId node, double lasts_s, Rng& rng) {
  for (const NodeId other : nodes_) {
    if (other == node) continue;
    const double from_s = lasts_s / 2 * rng.uniform();
    const double until_s = lasts_s / 2 * (1 + rng.uniform());
    world.at(world.now() + from_seconds(from_s),
             [this, node, other, s = until_s - from_s](World& w) {
               if (healed_) return;
               cut_link(w, node, other, s);
               cut_link(w, other, node, s);
             });
  }
}

/// Of all links: a simulated network has one delay.
void ScenarioFaults::delay(World& world, const FaultSpec& spec, double lasts_s) {
  const double ms = spec.value("delay_ms", 0), jitter_ms = spec.value("jitter_ms", 0);
  const Duration more = from_seconds(ms * 1e-3);
  network_.delay += more;
  network_.jitter = ms > 0 ? std::min(1.0, jitter_ms / ms) : network_.jitter;
  world.network().set_model(network_);
  later(world, lasts_s, [this, more](World& w) {
    network_.delay -= more;
    if (network_.delay == NetworkModel::lan().delay) network_ = NetworkModel::lan();
    w.network().set_model(network_);
  });
}

/// What is on its way when a connection ends does not arrive.
void ScenarioFaults::close(World& world, const Nodes& nodes, double per_s, double lasts_s,
                           Rng& rng) {
  for (const NodeId node : nodes) {
    for (double s = rng.exponential() / per_s; s < lasts_s; s += rng.exponential() / per_s) {
      world.at(world.now() + from_seconds(s), [this, node](World& w) {
        if (!healed_) w.network().disconnect(node);
      });
    }
  }
}

void ScenarioFaults::disturb(World& world, Noise noise, double lasts_s) {
  const std::uint32_t number = next_lasting_;
  noises_.emplace(number, std::move(noise));
  later(world, lasts_s, [this, number](World&) { noises_.erase(number); });
}

Network::Tampered ScenarioFaults::tamper(NodeId from, NodeId to, std::vector<std::byte>& frame) {
  for (const auto& [number, noise] : noises_) {
    if (!noise.meets(from, to)) continue;
    if (rng_.chance(noise.loss)) return Network::Tampered::lost;
    if (rng_.chance(noise.duplicate)) return Network::Tampered::repeated;
    if (rng_.chance(noise.reorder)) return Network::Tampered::late;
    if (frame.empty() || !rng_.chance(noise.corrupt)) continue;
    frame[rng_.below(static_cast<std::uint32_t>(frame.size()))] ^= std::byte(1U << rng_.below(8));
    return codec_.decode(frame) ? Network::Tampered::discarded : Network::Tampered::corrupt;
  }
  return Network::Tampered::no;
}

}  // namespace starling::chaos_live
