// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/simulated/scenario_faults.h"

#include <algorithm>

#include "launch/chaos/scenario/fault_kinds.h"
#include "launch/chaos/scenario/timers.h"
#include "launch/chaos/simulated/counterparts.h"

namespace starling::chaos_live {
namespace {

bool needs_it_up(LiveFaultKind kind) {
  return kind == LiveFaultKind::kill || kind == LiveFaultKind::stop ||
         kind == LiveFaultKind::restart || kind == LiveFaultKind::version;
}

}  // namespace

ScenarioFaults::ScenarioFaults(const ChaosScenario& scenario, std::uint32_t executors_each,
                               SimulatedLoad& load)
    : scenario_(scenario),
      load_(load),
      agents_(scenario.flock.agents),
      executors_each_(executors_each),
      rng_(Rng(scenario.seed).fork(0xfa17)) {
  knobs_.timers = asking_within_orphan(timers_of(scenario.flock));
  for (std::uint32_t a = 0; a < agents_; ++a) nodes_.push_back(agent_node(AgentId{a}));
  for (std::uint32_t e = 0; e < agents_ * executors_each; ++e) nodes_.push_back(executor_node(e));
}

void ScenarioFaults::plan(World& world) {
  world.on_stopped([this](World& w, NodeId node) {
    ++counts_["a node stopped by its disk"];
    down_.insert(node);
    bring_back_in(w, node, 0.2 + rng_.uniform());
  });
  world.hardware().set_manners(load_.manners());
  world.network().set_tamper(
      [this](NodeId from, NodeId to, std::vector<std::byte>& f) { return tamper(from, to, f); });
  for (const PlannedFault& planned : plan_of(scenario_)) {
    const FaultSpec& spec = scenario_.faults[planned.spec];
    if (!has_counterpart(spec)) {
      ++left_out_;
      kills_left_out_ += spec.kind == LiveFaultKind::kill ? 1 : 0;
      continue;
    }
    world.at(Instant(from_seconds(planned.at)), [this, planned](World& w) { inject(w, planned); });
  }
  world.at(Instant(from_seconds(scenario_.length)), [this](World& w) { heal(w); });
  load_.start(world);
}

bool ScenarioFaults::is_up(const World& world, NodeId node) const {
  if (down_.contains(node) || frozen_.contains(node)) return false;
  return is_agent(node) ? world.agent(agent_of(node)) != nullptr
                        : world.executor(executor_of(node)) != nullptr;
}

/// Where most jobs are.
std::uint32_t ScenarioFaults::home_of_a_job(const World& world) const {
  std::vector<std::uint32_t> open(agents_, 0);
  for (const Users::WantedJob& wanted : world.users().wanted()) {
    const JobOutcome& job = *world.users().find(wanted.spec.id);
    if (job.accepted && !job.over() && job.home.value < agents_) ++open[job.home.value];
  }
  return static_cast<std::uint32_t>(std::max_element(open.begin(), open.end()) - open.begin());
}

std::uint32_t ScenarioFaults::busy_executor(World& world) const {
  const std::vector<SimProcess> all = world.hardware().processes();
  return all.empty() ? 0 : all.back().executor;
}

ScenarioFaults::Nodes ScenarioFaults::resolve(World& world, const FaultTarget& target, bool up,
                                              Rng& rng) const {
  using K = FaultTarget::Kind;
  std::optional<std::uint32_t> number = target.number;
  if (target.kind == K::home) number = home_of_a_job(world);
  if (target.kind == K::busy_executor) number = busy_executor(world);
  Nodes there;
  for (const NodeId node : nodes_) {
    const bool agent = is_agent(node);
    const bool fits = target.kind == K::node ||
                      agent != (target.kind == K::executor || target.kind == K::busy_executor);
    const std::uint32_t own = agent ? agent_of(node).value : executor_of(node);
    if (!fits || gone_.contains(node) || (number && own != *number)) continue;
    if (!up || is_up(world, node)) there.push_back(node);
  }
  if (!target.all && !number) {
    for (std::size_t i = 0; i < there.size(); ++i)
      std::swap(there[i], there[i + rng.below(static_cast<std::uint32_t>(there.size() - i))]);
    if (there.size() > target.count) there.resize(target.count);
  }
  if (target.kind != K::rack) return there;
  const Nodes agents = there;
  for (const NodeId agent : agents) {
    for (std::uint32_t e = 0; e < executors_each_; ++e) {
      const NodeId node = executor_node(agent_of(agent).value * executors_each_ + e);
      if (!gone_.contains(node) && (!up || is_up(world, node))) there.push_back(node);
    }
  }
  return there;
}

void ScenarioFaults::inject(World& world, const PlannedFault& planned) {
  const FaultSpec& spec = scenario_.faults[planned.spec];
  Rng rng = planned.rng;
  Nodes first, second;
  bool to_authority = false;
  if (!spec.who.empty()) first = resolve(world, spec.who[0], needs_it_up(spec.kind), rng);
  if (spec.who.size() == 2) {
    to_authority = spec.who[1].kind == FaultTarget::Kind::etcd;
    if (!to_authority) second = resolve(world, spec.who[1], false, rng);
    // Two that are drawn from the same kind are to be two.
    if (!to_authority && !spec.who[1].all && second == first && !first.empty()) {
      Nodes others;
      for (const NodeId node : nodes_) {
        if (is_agent(node) == is_agent(first[0]) && node != first[0]) others.push_back(node);
      }
      second.clear();
      if (!others.empty())
        second.push_back(others[rng.below(static_cast<std::uint32_t>(others.size()))]);
    }
  }
  const std::string name = name_of(spec.kind);
  const bool nothing_hit =
      !spec.who.empty() &&
      (first.empty() || (spec.who.size() == 2 && !to_authority && second.empty()));
  if (nothing_hit) {
    ++counts_[name + ": no such process there"];
    return;
  }
  ++counts_[name + " (" + counterpart_of(spec.kind) + ")"];
  ++faults_;
  kills_ += spec.kind == LiveFaultKind::kill ? 1 : 0;
  begin(world, spec, planned, first, second, rng);
}

void ScenarioFaults::begin(World& world, const FaultSpec& spec, const PlannedFault& planned,
                           const Nodes& first, const Nodes& second, Rng& rng) {
  const double lasts = planned.lasts;
  switch (spec.kind) {
    case LiveFaultKind::kill:
    case LiveFaultKind::restart:
      for (const NodeId node : first) kill(world, node, planned.down);
      return;
    case LiveFaultKind::stop:
      for (const NodeId node : first) freeze(world, node, lasts);
      return;
    case LiveFaultKind::cut:
    case LiveFaultKind::link_down:
      return cut(world, spec, first, second, lasts);
    case LiveFaultKind::swizzle:
      for (const NodeId node : first) swizzle(world, node, lasts, rng);
      return;
    case LiveFaultKind::delay:
      return delay(world, spec, lasts);
    case LiveFaultKind::close:
      return close(world, first, spec.value("per_s", 0.5), lasts, rng);
    case LiveFaultKind::corrupt:
      return disturb(world, {first, second, spec.direction, spec.value("share", 0)}, lasts);
    case LiveFaultKind::packet_loss:
      return disturb(world, {first, {}, Direction::both, 0, spec.value("loss", 0)}, lasts);
    case LiveFaultKind::frames:
      return disturb(world,
                     {first,
                      {},
                      Direction::out,
                      0,
                      spec.value("loss", 0),
                      spec.value("duplicate", 0),
                      spec.value("reorder", 0)},
                     lasts);
    case LiveFaultKind::storm:
      load_.set_factor(std::min(kMostStorm, spec.value("times", 20)));
      return later(world, lasts, [this](World&) { load_.set_factor(1); });
    default:
      for (const NodeId node : first) machine(world, spec, node, lasts, rng);
  }
}

void ScenarioFaults::later(World& world, double after_s, Undo undo) {
  const std::uint32_t number = next_lasting_++;
  lasting_.emplace(number, std::move(undo));
  world.at(world.now() + from_seconds(after_s), [this, number](World& w) {
    if (const auto over = lasting_.extract(number)) over.mapped()(w);
  });
}

void ScenarioFaults::heal(World& world) {
  healed_ = true;
  // Disks and links first: what starts again needs them.
  while (!lasting_.empty()) lasting_.extract(lasting_.begin()).mapped()(world);
  world.network().set_tamper(nullptr);
  for (const NodeId node : nodes_) world.disk(node).faults() = DiskFaults{};
  for (const NodeId node : std::exchange(aged_, {})) {
    if (!gone_.contains(node)) down_.insert(node);
  }
  for (const NodeId node : std::exchange(down_, {})) bring_back(world, node);
  world.wake_all();
  world.refuse_deposed();
  mend_manners(world, load_.manners());
  undo_drains(world, drained_);
}

FaultCounts ScenarioFaults::counts(World& world) const {
  FaultCounts all = counts_;
  if (takeovers_ > 0) all["takeovers"] = takeovers_;
  count_frames(world, all);
  return all;
}

std::vector<std::string> ScenarioFaults::active() const {
  std::vector<std::string> names;
  for (const FaultSpec& spec : scenario_.faults) {
    const std::string name = name_of(spec.kind);
    if (has_counterpart(spec) && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return names;
}

std::string ScenarioFaults::unmet() const {
  const Expectations& e = scenario_.expect;
  const std::tuple<const char*, std::uint32_t, std::uint32_t> all[] = {
      {"faults", faults_ + left_out_, e.faults},
      {"kills", kills_ + kills_left_out_, e.kills},
      {"takeovers", takeovers_, e.takeovers}};
  for (const auto& [what, n, least] : all) {
    if (n < least)
      return "only " + std::to_string(n) + " " + what + " happened; expected " +
             std::to_string(least);
  }
  return "";
}

}  // namespace starling::chaos_live
