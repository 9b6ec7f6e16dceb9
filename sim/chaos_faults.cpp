#include "sim/chaos_faults.h"

#include <utility>

namespace starling {
namespace {

using namespace std::chrono_literals;

}  // namespace

ChaosFaults::ChaosFaults(std::uint32_t agents, std::uint32_t executors_each, Duration last, Rng rng)
    : agents_(agents), executors_each_(executors_each), end_(last), rng_(rng) {
  for (std::uint32_t a = 0; a < agents; ++a) nodes_.push_back(agent_node(AgentId{a}));
  for (std::uint32_t e = 0; e < agents * executors_each; ++e) nodes_.push_back(executor_node(e));
  nodes_.push_back(client_node(0));
}

ChaosFaults::Dose ChaosFaults::draw() {
  const std::uint32_t x = rng_.below(10);
  return x < 4 ? Dose::off : x < 8 ? Dose::mild : Dose::extreme;
}

Instant ChaosFaults::soon(Instant from, double mean_s) {
  return from + from_seconds(mean_s * rng_.exponential());
}

Duration ChaosFaults::outage() {
  return from_seconds(rng_.chance(0.5) ? 3 * rng_.uniform() : 120 * rng_.uniform());
}

NodeId ChaosFaults::any_node() {
  return nodes_[rng_.below(static_cast<std::uint32_t>(nodes_.size()))];
}

void ChaosFaults::plan(World& world) {
  kills_ = draw();
  until_kill_ = 1 + rng_.below(5000);
  repeat(world, "rack killed", draw(), &ChaosFaults::kill_rack);
  repeat(world, "all agents killed", draw(), &ChaosFaults::kill_all_agents);
  repeat(world, "all executors restarted", draw(), &ChaosFaults::restart_all_executors);
  repeat(world, "partition taken over", draw(), &ChaosFaults::take_over);
  repeat(world, "node cut off", draw(), &ChaosFaults::isolate);
  repeat(world, "network in halves", draw(), &ChaosFaults::halve);
  repeat(world, "link cut one way", draw(), &ChaosFaults::cut_one_way);
  repeat(world, "swizzle", draw(), &ChaosFaults::swizzle);
  repeat(world, "network clogged", draw(), &ChaosFaults::clog);
  plan_network(world);
  world.at(end_, [this](World& w) { heal(w); });
}

/// Every so often until the end: every 4 minutes if mild, every 30 s if extreme.
void ChaosFaults::repeat(World& world, const char* kind, Dose dose,
                         void (ChaosFaults::*fault)(World&)) {
  if (dose == Dose::off) return;
  const double mean_s = dose == Dose::mild ? 240 : 30;
  for (Instant at = soon(Instant{}, mean_s); at < end_; at = soon(at, mean_s)) {
    world.at(at, [this, kind, fault](World& w) {
      ++counts_[kind];
      (this->*fault)(w);
    });
  }
}

void ChaosFaults::plan_network(World& world) {
  const auto up_to = [this](double mild, double extreme) {
    const Dose dose = draw();
    const double most = dose == Dose::off ? 0 : dose == Dose::mild ? mild : extreme;
    return most * rng_.uniform();
  };
  network_ = NetworkModel::lan();
  network_.delay += from_seconds(up_to(0.02, 0.2));
  network_.jitter = rng_.uniform();
  network_.loss = up_to(0.05, 0.3);
  network_.duplication = up_to(0.05, 0.5);
  network_.reorder = up_to(0.05, 0.3);
  world.network().set_model(network_);
}

void ChaosFaults::between_events(World& world) {
  if (kills_ == Dose::off || healed_ || --until_kill_ > 0) return;
  until_kill_ = 1 + rng_.below(kills_ == Dose::mild ? 20'000 : 3000);
  const bool an_agent = rng_.chance(0.5);
  ++counts_[an_agent ? "agent killed" : "executor killed"];
  kill(world, an_agent, rng_.below(an_agent ? agents_ : agents_ * executors_each_));
}

/// Comes back within a minute, or, one time in ten, when all is healed.
void ChaosFaults::kill(World& world, bool an_agent, std::uint32_t which) {
  std::set<std::uint32_t>& down = an_agent ? agents_down_ : executors_down_;
  if (!down.insert(which).second) return;
  if (an_agent) {
    world.crash_agent(AgentId{which});
  } else {
    world.crash_executor(which);
  }
  if (rng_.chance(0.1)) return;
  const double most_s = rng_.chance(0.5) ? 2 : 60;
  world.at(world.now() + from_seconds(most_s * rng_.uniform()), [this, an_agent, which](World& w) {
    if ((an_agent ? agents_down_ : executors_down_).erase(which) == 0) return;
    if (an_agent) {
      w.restart_agent(AgentId{which});
    } else {
      w.restart_executor(which);
    }
  });
}

void ChaosFaults::kill_rack(World& world) {
  const std::uint32_t rack = rng_.below(agents_);
  kill(world, true, rack);
  for (std::uint32_t i = 0; i < executors_each_; ++i)
    kill(world, false, rack * executors_each_ + i);
}

void ChaosFaults::kill_all_agents(World& world) {
  for (std::uint32_t a = 0; a < agents_; ++a) kill(world, true, a);
}

/// All of them register again at one instant.
void ChaosFaults::restart_all_executors(World& world) {
  for (std::uint32_t e = 0; e < world.executors(); ++e) {
    executors_down_.erase(e);
    world.restart_executor(e);
  }
}

/// Of an agent that is dead, or alive and unaware of it for up to a minute.
void ChaosFaults::take_over(World& world) {
  const std::uint32_t agent = rng_.below(agents_);
  agents_down_.erase(agent);
  world.take_over(AgentId{agent}, outage());
}

void ChaosFaults::cut(World& world, NodeId from, NodeId to, Duration lasts) {
  world.network().cut(from, to, true);
  cuts_.insert({from, to});
  // Where two cuts of a link overlap the first to end heals it.
  world.at(world.now() + lasts, [this, from, to](World& w) {
    if (cuts_.erase({from, to}) > 0) w.network().cut(from, to, false);
  });
}

void ChaosFaults::isolate(World& world) {
  const NodeId one = any_node();
  const Duration lasts = outage();
  for (const NodeId other : nodes_) {
    if (other == one) continue;
    cut(world, one, other, lasts);
    cut(world, other, one, lasts);
  }
}

void ChaosFaults::halve(World& world) {
  std::vector<NodeId> left, right;
  for (const NodeId node : nodes_) (rng_.chance(0.5) ? left : right).push_back(node);
  const Duration lasts = outage();
  for (const NodeId a : left) {
    for (const NodeId b : right) {
      cut(world, a, b, lasts);
      cut(world, b, a, lasts);
    }
  }
}

/// One direction of one link, or of all links of a node.
void ChaosFaults::cut_one_way(World& world) {
  const NodeId one = any_node();
  const Duration lasts = outage();
  const bool speaks = rng_.chance(0.5), only_one = rng_.chance(0.5);
  const NodeId peer = any_node();
  for (const NodeId other : nodes_) {
    if (other == one || (only_one && other != peer)) continue;
    speaks ? cut(world, one, other, lasts) : cut(world, other, one, lasts);
  }
}

/// Links of some nodes are cut one after the other and healed in another order.
void ChaosFaults::swizzle(World& world) {
  for (const NodeId one : nodes_) {
    if (rng_.chance(0.5)) continue;
    const NodeId other = any_node();
    if (other == one) continue;
    const Duration lasts = outage();
    world.at(world.now() + from_seconds(20 * rng_.uniform()), [this, one, other, lasts](World& w) {
      if (healed_) return;
      cut(w, one, other, lasts);
      cut(w, other, one, lasts);
    });
  }
}

/// What is sent meanwhile arrives up to ten seconds late, and what is sent later not before it.
void ChaosFaults::clog(World& world) {
  NetworkModel slow = network_;
  slow.delay = from_seconds(0.5 + 9.5 * rng_.uniform());
  world.network().set_model(slow);
  world.at(world.now() + from_seconds(15 * rng_.uniform()), [this](World& w) {
    if (!healed_) w.network().set_model(network_);
  });
}

void ChaosFaults::heal(World& world) {
  healed_ = true;
  world.network().set_model(NetworkModel::lan());
  for (const auto& [from, to] : cuts_) world.network().cut(from, to, false);
  cuts_.clear();
  for (const std::uint32_t e : std::exchange(executors_down_, {})) world.restart_executor(e);
  for (const std::uint32_t a : std::exchange(agents_down_, {})) world.restart_agent(AgentId{a});
}

FaultCounts ChaosFaults::counts(World& world) const {
  FaultCounts all = counts_;
  const auto note = [&all](const char* kind, std::uint64_t n) {
    if (n > 0) all[kind] += n;
  };
  note("frames lost", world.network().lost());
  note("frames repeated", world.network().repeated());
  note("frames overtaking", world.network().overtaken());
  return all;
}

}  // namespace starling
