// SPDX-License-Identifier: Apache-2.0
// Faults of the network: F4 to F11, F17 and F29.
#include <algorithm>
#include <utility>

#include "bus/wire/frame_kind.h"
#include "bus/wire/roles.h"
#include "sim/chaos/chaos_faults.h"

namespace starling {

void ChaosFaults::cut(World& world, NodeId from, NodeId to, Duration lasts) {
  const Place a = world.place_of(from), b = world.place_of(to);
  world.network().cut(a, b, true);
  cuts_.insert({a, b});
  // Where two cuts of a link overlap the first to end heals it.
  world.at(world.now() + lasts, [this, a, b](World& w) {
    if (cuts_.erase({a, b}) > 0) w.network().cut(a, b, false);
  });
}

bool ChaosFaults::cut_off(World& world, NodeId node) const {
  return world.network().region_of(world.place_of(node)) != 0;
}

/// Old owner and executors here; the authority, the others and soon another owner there. The lease
/// was renewed some time before the cut, and its holder stops when nine tenths of it are over; the
/// authority gives the partition to another host when all of it is. What runs in the rack has to
/// end before the others start it again.
void ChaosFaults::cut_rack(World& world, Rng& rng, Dose) {
  const AgentId agent{rng.below(agents_)};
  // Half of the cuts outlast the silence after which the others start its jobs again.
  const double longest_s = seconds(lost_after(knobs_.timers)) * (1 + rng.uniform());
  const Duration lasts = rng.chance(0.5) ? from_seconds(longest_s) : outage(rng);
  const double lease_s = seconds(knobs_.lease), renewed_s = lease_s / 3 * rng.uniform();
  const Duration comes = from_seconds(lease_s - renewed_s + 2 * rng.uniform());
  std::vector<NodeId> nodes = {agent_node(agent)};
  for (std::uint32_t e = 0; e < executors_each_; ++e)
    nodes.push_back(executor_node(agent.value * executors_each_ + e));
  for (const NodeId node : nodes) {
    if (cut_off(world, node)) return;
  }
  const std::uint32_t region = ++regions_;
  for (const NodeId node : nodes) {
    const Place place = world.place_of(node);
    world.network().move(place, region);
    racks_cut_[region].push_back(place);
  }
  world.lapse(agent, from_seconds(0.9 * lease_s - renewed_s));
  if (comes < lasts) {
    world.at(world.now() + comes, [this, agent, region, left = lasts - comes](World& w) {
      const NodeId node = agent_node(agent);
      if (!racks_cut_.contains(region) || !cut_off(w, node)) return;
      down_.erase(node);
      ++counts_["F4-rack: taken over meanwhile"];
      if (!w.take_over(agent, left).ok()) stopped(w, node);
    });
  }
  world.at(world.now() + lasts, [this, agent, region](World& w) {
    const auto cut = racks_cut_.extract(region);
    if (cut.empty()) return;
    for (const Place place : cut.mapped()) w.network().move(place, 0);
    w.lapse(agent, Duration::max());
  });
}

void ChaosFaults::isolate(World& world, Rng& rng, Dose) {
  const NodeId one = any(rng);
  const Duration lasts = outage(rng);
  for (const NodeId other : nodes_) {
    if (other == one) continue;
    cut(world, one, other, lasts);
    cut(world, other, one, lasts);
  }
}

void ChaosFaults::halve(World& world, Rng& rng, Dose) {
  std::vector<NodeId> left, right;
  for (const NodeId node : nodes_) (rng.chance(0.5) ? left : right).push_back(node);
  const Duration lasts = outage(rng);
  for (const NodeId a : left) {
    for (const NodeId b : right) {
      cut(world, a, b, lasts);
      cut(world, b, a, lasts);
    }
  }
}

/// One direction of one link, or of all links of a node.
void ChaosFaults::cut_one_way(World& world, Rng& rng, Dose) {
  const NodeId one = any(rng);
  const Duration lasts = outage(rng);
  const bool speaks = rng.chance(0.5), only_one = rng.chance(0.5);
  const NodeId peer = any(rng);
  for (const NodeId other : nodes_) {
    if (other == one || (only_one && other != peer)) continue;
    speaks ? cut(world, one, other, lasts) : cut(world, other, one, lasts);
  }
}

/// Links of some nodes are cut one after the other and healed in another order.
void ChaosFaults::swizzle(World& world, Rng& rng, Dose) {
  for (const NodeId one : nodes_) {
    if (rng.chance(0.5)) continue;
    const NodeId other = any(rng);
    if (other == one) continue;
    const Duration lasts = outage(rng);
    world.at(world.now() + from_seconds(20 * rng.uniform()), [this, one, other, lasts](World& w) {
      if (healed_) return;
      cut(w, one, other, lasts);
      cut(w, other, one, lasts);
    });
  }
}

void ChaosFaults::delay(World&, Rng& rng, Dose dose) {
  network_.delay += from_seconds((dose == Dose::mild ? 0.02 : 0.2) * rng.uniform());
  network_.jitter = rng.uniform();
}

/// What is sent meanwhile arrives up to ten seconds late, and what is sent later not before it.
void ChaosFaults::clog(World& world, Rng& rng, Dose) {
  NetworkModel slow = network_;
  slow.delay = from_seconds(0.5 + 9.5 * rng.uniform());
  world.network().set_model(slow);
  world.at(world.now() + from_seconds(15 * rng.uniform()), [this](World& w) {
    if (!healed_) w.network().set_model(network_);
  });
}

void ChaosFaults::lose(World&, Rng& rng, Dose dose) {
  network_.loss = (dose == Dose::mild ? 0.05 : 0.3) * rng.uniform();
}
void ChaosFaults::duplicate(World&, Rng& rng, Dose dose) {
  network_.duplication = (dose == Dose::mild ? 0.05 : 0.5) * rng.uniform();
}
void ChaosFaults::reorder(World&, Rng& rng, Dose dose) {
  network_.reorder = (dose == Dose::mild ? 0.05 : 0.3) * rng.uniform();
}
void ChaosFaults::corrupt(World&, Rng& rng, Dose dose) {
  corrupts_ = (dose == Dose::mild ? 0.005 : 0.05) * rng.uniform();
}

void ChaosFaults::pick_on_kinds(World&, Rng&, Dose dose) {
  rare_meets_ = dose == Dose::mild ? 0.5 : 0.9;
}

void ChaosFaults::short_queues(World& world, Rng& rng, Dose dose) {
  world.network().set_queue(dose == Dose::mild ? 64 + rng.below(1000) : 2 + rng.below(30));
}

void ChaosFaults::read_slowly(World& world, Rng& rng, Dose) {
  const NodeId node = any(rng);
  const std::size_t frames = 1 + rng.below(10), room = 10 + rng.below(1000);
  world.read_slowly(node, frames, std::chrono::seconds(1), room);
  world.at(world.now() + outage(rng), [node](World& w) { w.read_slowly(node, 0, Duration{0}, 0); });
}

Network::Tampered ChaosFaults::tamper(NodeId from, NodeId to, std::vector<std::byte>& frame) {
  if (liars_.contains(from) && to.value <= agents_) {
    const Network::Tampered told = untrue(often_.lie->rng, frame);
    if (told != Network::Tampered::no) return told;
  }
  if (rare_meets_ > 0) {
    const Network::Tampered met = picked_on(from, to, frame);
    if (met != Network::Tampered::no) return met;
  }
  Rng& rng = often_.corrupt->rng;
  if (corrupts_ == 0 || !rng.chance(corrupts_)) return Network::Tampered::no;
  return garble(rng, from, to, frame);
}

/// A fault of one kind in a million frames is as good as none: the n-th frame of a kind meets one
/// with a chance that falls with n.
Network::Tampered ChaosFaults::picked_on(NodeId from, NodeId to, std::vector<std::byte>& frame) {
  constexpr double kOften = 20;
  const auto kind = kind_of_frame(frame);
  if (!kind) return Network::Tampered::no;
  const std::uint32_t before = said_[*kind]++;
  Rng& rng = often_.pick_on_kinds->rng;
  if (!rng.chance(rare_meets_ * kOften / (kOften + before))) return Network::Tampered::no;
  switch (rng.below(4)) {
    case 0:
      return Network::Tampered::lost;
    case 1:
      return Network::Tampered::repeated;
    case 2:
      return Network::Tampered::late;
    default:
      return garble(rng, from, to, frame);
  }
}

/// Below the codec. What a codec would still take is dropped: the transport authenticates every
/// frame (CURVE), so only what a peer itself made can be wrong and well formed at once.
Network::Tampered ChaosFaults::garble(Rng& rng, NodeId from, NodeId to,
                                      std::vector<std::byte>& frame) {
  const auto any_byte = [&] { return rng.below(static_cast<std::uint32_t>(frame.size())); };
  if (frame.empty()) return Network::Tampered::no;
  if (seen_.size() < 64 || rng.chance(0.05)) {
    if (seen_.size() >= 64) seen_.erase(seen_.begin());
    seen_.push_back(frame);
  }
  switch (rng.below(4)) {
    case 0:
      for (std::uint32_t flips = 1 + rng.below(8); flips > 0; --flips)
        frame[any_byte()] ^= std::byte(1U << rng.below(8));
      break;
    case 1:
      frame.resize(any_byte());
      break;
    case 2:
      for (std::byte& b : frame) b = std::byte(rng.below(256));
      break;
    default: {  // said by a node that may not say it
      frame = seen_[rng.below(static_cast<std::uint32_t>(seen_.size()))];
      const auto other = codec_.decode(frame);
      const bool refused =
          !other || !may_send(role_of(from), role_of(to), other.value().message.index());
      return refused ? Network::Tampered::corrupt : Network::Tampered::discarded;
    }
  }
  return codec_.decode(frame) ? Network::Tampered::discarded : Network::Tampered::corrupt;
}

}  // namespace starling
