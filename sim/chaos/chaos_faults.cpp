// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/chaos_faults.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace starling {

struct ChaosFaults::Kind {
  const char* name;
  const char* what;
  Fault fault;               ///< null: something else asks for the dose
  double mild_s, extreme_s;  ///< mean time between two; 0: called once at the start
  double share = 0;          ///< of seeds that have it; 0: as drawn for the seed
};

std::span<const ChaosFaults::Kind> ChaosFaults::kinds() {
  using F = ChaosFaults;
  static const Kind all[] = {
      {"F1-agent", "agents killed between any two events", nullptr, 0, 0},
      {"F1-executor", "executors killed between any two events", nullptr, 0, 0},
      {"F2-pause", "a node stands still for 10 ms to an hour", &F::pause, 120, 20},
      {"F3-zombie", "an owner stands still past its takeover", &F::zombie, 240, 60},
      {"F4-isolate", "a node is cut off", &F::isolate, 240, 30},
      {"F4-halves", "the network falls into halves", &F::halve, 240, 30},
      {"F5-one-way", "links cut in one direction", &F::cut_one_way, 240, 30},
      {"F6-swizzle", "links cut in turn, healed in another order", &F::swizzle, 240, 30},
      {"F7-delay", "up to 200 ms for every frame, with jitter", &F::delay, 0, 0},
      {"F7-clog", "frames up to 20 s late for a while", &F::clog, 240, 30},
      {"F8-loss", "up to 30 % of all frames", &F::lose, 0, 0},
      {"F9-repeat", "up to 50 % of all frames, up to 20 s later", &F::duplicate, 0, 0},
      {"F10-overtake", "up to 30 % of all frames", &F::reorder, 0, 0},
      {"F11-corrupt", "up to 5 % of all frames: flipped bits, cut off, garbage, another kind",
       &F::corrupt, 0, 0},
      {"F12-rate", "clocks up to 5 % wrong, 20 % if extreme", &F::skew, 0, 0},
      {"F12-suspend", "a node stands still, and its clock with it", &F::suspend, 240, 30},
      {"F13-full", "a disk is full, and freed later", &F::fill_disk, 240, 30},
      {"F14-once", "a write fails", &F::fail_write, 240, 30},
      {"F14-broken", "all writes fail until the disk is replaced", &F::break_disk, 240, 60},
      {"F15-torn", "a machine stops before, in or just after a write", &F::stop_in_write, 120, 15},
      {"F15-flip", "a bit of a journal flips; an operator restores it", &F::flip_bit, 240, 60},
      {"F16-slow", "writes take up to 5 s", &F::slow_disks, 0, 0},
      {"F17-queues", "few frames may be on their way on one link", &F::short_queues, 0, 0},
      {"F17-reader", "a node reads one to ten frames a second", &F::read_slowly, 240, 30},
      {"F18-herd", "all jobs come at one instant", nullptr, 0, 0},
      {"F18-executors", "all executors register again at one instant", &F::restart_all_executors,
       240, 30},
      {"F18-limits", "agents take few jobs and few holds", nullptr, 0, 0},
      {"F20-gpu", "a GPU goes bad for a while", &F::spoil_gpu, 120, 15},
      {"F20-host", "an executor's machine loses power, sometimes its disk", &F::lose_host, 240, 30},
      {"F21-brain", "policies decide garbage, against everyone, nothing, or slowly", nullptr, 0, 0},
      {"F22-digests", "agents tell wrong or old digests", &F::lie, 0, 0},
      {"F23-takeover", "a partition is taken over, from the living too", &F::take_over, 240, 30},
      {"F23-late", "an owner dies and is replaced after a while", &F::take_over_late, 240, 60},
      {"F23-candidates", "two candidates want one partition", &F::two_candidates, 240, 60},
      {"F24-cancel", "users cancel", &F::cancel, 60, 5},
      {"F24-drain", "a server is drained for a while, sometimes its jobs evicted", &F::drain, 240,
       30},
      {"F24-topology", "an executor reads another site's topology", &F::mislead, 240, 60},
      {"F25-rack", "an agent and its executors at once", &F::kill_rack, 240, 30},
      {"F25-agents", "all agents at once", &F::kill_all_agents, 240, 30},
      {"compaction", "a journal is replaced by a snapshot", &F::compact, 60, 10},
      {"F19-version", "a node is restarted with any version of the protocol", &F::change_version,
       240, 30},
      {"F1-owner", "the owner of a part of another home's gang stays dead until it counts as lost",
       &F::lose_owner, 60, 10},
      {"F4-rack", "an agent and its executors are cut off from all others and from the authority",
       &F::cut_rack, 240, 60},
      {"F20-gone", "an executor's machine and disk are lost for good", &F::retire, 600, 240},
      {"F12-calendar", "wall clocks jump, by seconds to fifty years", &F::set_calendar, 120, 30},
      {"F28-starts", "processes take up to 20 s to start, and some never do", &F::slow_starts, 0,
       0},
      {"F28-stops", "processes end late, by force, or leave something that holds their GPUs",
       &F::slow_stops, 0, 0},
      {"F28-fails", "jobs fail by themselves, one process of a gang", &F::failing_jobs, 0, 0},
      {"F28-guardian", "a guardian is killed, and what it guards with it", &F::kill_guardian, 120,
       20},
      {"F24-ask", "users ask for lists, explanations, counts and what jobs print", &F::ask, 10, 1,
       0.4},
      {"F29-kinds",
       "frames of each kind are lost, repeated, late or corrupt, the more the rarer the kind is",
       &F::pick_on_kinds, 0, 0, 0.8},
      {"F27-timers", "timers are a third to three times as long; if extreme a tenth to ten times",
       nullptr, 0, 0, 0.4},
      {"F27-jobs", "jobs are, too", nullptr, 0, 0, 0.4},
      {"F27-faults", "faults are, too, and there are faults for longer", nullptr, 0, 0, 0.4},
      {"F24-clients", "two clients submit, cancel and ask; two to four if extreme", nullptr, 0, 0,
       0.6},
      {"F1-client", "clients killed between any two events; new ones go on under the same ids",
       nullptr, 0, 0, 0.4},
      {"F15-restored", "a node is started on an older copy of its journal", &F::restore, 60, 20,
       0.3},
      {"F27-means", "jobs ask for CPUs and memory, most of a server's if extreme", nullptr, 0, 0,
       0.4},
      {"F15-accepted", "when all is over an agent goes on from an older state, or from none",
       &F::choose_loss, 120, 60, 0.2},
      {"F30-members", "members join, leave and die; partitions move by a planned hand-over",
       &F::change_members, 120, 20, 0.3},
      {"F31-keys", "keys are exchanged, in whatever order and however late", &F::exchange_key, 120,
       20, 0.3},
      {"F32-servers", "servers come, leave and get other GPUs", &F::change_servers, 120, 30, 0.3},
      {"F33-gossip", "agents tell a few what they know of all, as in large flocks", nullptr, 0, 0,
       0.3},
      {"F34-memory",
       "what a policy and a speed model have learned is lost, cut, altered or another's",
       &F::spoil_memory, 120, 20, 0.3},
      {"F35-sizes", "gangs have any size that their jobs may have, and are resized over partitions",
       nullptr, 0, 0, 0.3},
      {"F36-terms", "jobs wait for others or for their time, or may run for less than they need",
       nullptr, 0, 0, 0.2},
      {"F24-change", "users hold, release and requeue jobs", &F::change, 20, 3, 0.3},
      {"F37-queues", "jobs are in queues, which an operator sets and changes", &F::change_queues,
       60, 10, 0.3},
  };
  return all;
}

std::vector<FaultKind> fault_kinds() {
  std::vector<FaultKind> all;
  for (const ChaosFaults::Kind& kind : ChaosFaults::kinds()) all.push_back({kind.name, kind.what});
  return all;
}

ChaosFaults::ChaosFaults(std::uint32_t agents, std::uint32_t executors_each, Duration last, Rng rng,
                         const std::set<std::string>& without, const std::set<std::string>& only)
    : agents_(agents),
      executors_each_(executors_each),
      end_(last),
      rng_(rng.fork(1)),
      leases_(rng.fork(2)) {
  for (std::uint32_t a = 0; a < agents; ++a) nodes_.push_back(agent_node(AgentId{a}));
  for (std::uint32_t e = 0; e < agents * executors_each; ++e) nodes_.push_back(executor_node(e));
  network_ = NetworkModel::lan();
  // Some seeds have few kinds at once, some many.
  static constexpr double kShares[] = {0.08, 0.2, 0.45};
  const double share = kShares[rng_.below(3)];
  for (std::size_t k = 0; k < kinds().size(); ++k) {
    const std::string name = kinds()[k].name;
    State state;
    state.rng = rng.fork(1000 + k);
    const bool drawn = state.rng.chance(kinds()[k].share > 0 ? kinds()[k].share : share);
    const bool extreme = state.rng.chance(1.0 / 3);
    const auto named = [&name](const std::set<std::string>& names) {
      return names.contains(name) || names.contains(name.substr(0, name.find('-')));
    };
    const bool on = only.empty() ? drawn : named(only);
    if (on && !named(without)) state.dose = extreme ? Dose::extreme : Dose::mild;
    states_.push_back(state);
  }
  often_ = {&state("F1-agent"),    &state("F1-executor"), &state("F1-client"),
            &state("F22-digests"), &state("F11-corrupt"), &state("F29-kinds")};
  turn_knobs();
  for (std::uint32_t c = 0; c < clients_; ++c) nodes_.push_back(client_node(c));
}

void ChaosFaults::turn_knobs() {
  const auto turned = [this](const char* name, const std::function<void(Rng&, double)>& turn) {
    State& knob = state(name);
    if (knob.dose == Dose::off) return;
    counts_[name] = 1;
    turn(knob.rng, knob.dose == Dose::extreme ? 10 : 3);
  };
  turned("F27-timers", [this](Rng& rng, double most) { draw_timers(knobs_, rng, most); });
  turned("F27-jobs", [this](Rng& rng, double most) { knobs_.jobs = draw_factor(rng, most); });
  turned("F24-clients",
         [this](Rng& rng, double most) { clients_ = most > 3 ? 2 + rng.below(3) : 2; });
  turned("F27-faults", [this](Rng& rng, double most) {
    knobs_.faults = draw_factor(rng, most);
    end_ = Instant(from_seconds(seconds(last()) * std::max(1.0, knobs_.faults)));
  });
}

ChaosFaults::State& ChaosFaults::state(const char* name) {
  for (std::size_t k = 0; k < states_.size(); ++k) {
    if (std::string_view(kinds()[k].name) == name) return states_[k];
  }
  check_failed("every fault has its kind", __FILE__, __LINE__);
}

std::vector<std::string> ChaosFaults::active() const {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < states_.size(); ++k) {
    if (states_[k].dose != Dose::off) names.emplace_back(kinds()[k].name);
  }
  return names;
}

double ChaosFaults::means() {
  const Dose dose = state("F27-means").dose;
  if (dose == Dose::off) return 0;
  counts_["F27-means"] = 1;
  return dose == Dose::extreme ? 1 : 0.3;
}

bool ChaosFaults::sizes() { return state("F35-sizes").dose != Dose::off; }

bool ChaosFaults::terms() {
  if (state("F36-terms").dose == Dose::off) return false;
  counts_["F36-terms"] = 1;
  return true;
}

bool ChaosFaults::herd() {
  if (state("F18-herd").dose == Dose::off) return false;
  counts_["F18-herd"] = 1;
  return true;
}

bool ChaosFaults::gossip() {
  if (state("F33-gossip").dose == Dose::off) return false;
  counts_["F33-gossip"] = 1;
  return true;
}

void ChaosFaults::tighten(Limits& limits) {
  State& tight = state("F18-limits");
  if (tight.dose == Dose::off) return;
  counts_["F18-limits"] = 1;
  const bool extreme = tight.dose == Dose::extreme;
  limits.jobs_waiting = extreme ? 2 + tight.rng.below(10) : 10 + tight.rng.below(40);
  limits.holds = extreme ? 1 + tight.rng.below(4) : 8 + tight.rng.below(32);
  limits.archive_chunk_bytes = extreme ? 512 : 2048;  // what is over goes to the archive at once
}

void ChaosFaults::plan(World& world, const Topology& wrong) {
  wrong_ = &wrong;
  until_agent_dies_ = 1 + rng_.below(5000);
  until_executor_dies_ = 1 + rng_.below(5000);
  until_client_dies_ = 1 + state("F1-client").rng.below(5000);
  world.on_stopped([this](World& w, NodeId node) { stopped(w, node); });
  for (std::size_t k = 0; k < states_.size(); ++k) {
    State& state = states_[k];
    const Kind& kind = kinds()[k];
    if (state.dose == Dose::off || kind.fault == nullptr) continue;
    if (kind.mild_s == 0) {
      ++counts_[kind.name];
      (this->*kind.fault)(world, state.rng, state.dose);
    } else {
      repeat(world, k);
    }
  }
  world.network().set_model(network_);
  if (corrupts_ > 0 || rare_meets_ > 0 || !liars_.empty()) {
    world.network().set_tamper(
        [this](NodeId from, NodeId to, std::vector<std::byte>& f) { return tamper(from, to, f); });
  }
  world.at(end_, [this](World& w) { heal(w); });
}

/// Every so often until the end.
void ChaosFaults::repeat(World& world, std::size_t k) {
  State& state = states_[k];
  const Kind& kind = kinds()[k];
  const double mean_s = state.dose == Dose::mild ? kind.mild_s : kind.extreme_s;
  Rng times = state.rng.fork(1);
  const auto next = [&](Instant at) { return at + from_seconds(mean_s * times.exponential()); };
  for (Instant at = next(Instant{}); at < end_; at = next(at)) {
    world.at(at, [this, k](World& w) {
      ++counts_[kinds()[k].name];
      w.note(kinds()[k].name);
      (this->*kinds()[k].fault)(w, states_[k].rng, states_[k].dose);
    });
  }
}

void ChaosFaults::between_events(World& world) {
  if (healed_) return;
  const auto maybe = [&](State& kills, const char* name, std::uint32_t& until, std::uint32_t first,
                         std::uint32_t count) {
    if (kills.dose == Dose::off || --until > 0) return;
    until = 1 + kills.rng.below(kills.dose == Dose::mild ? 40'000 : 6000);
    ++counts_[name];
    world.note(name);
    kill(world, kills.rng, nodes_[first + kills.rng.below(count)]);
  };
  maybe(*often_.kill_agents, "F1-agent", until_agent_dies_, 0, agents_);
  maybe(*often_.kill_executors, "F1-executor", until_executor_dies_, agents_,
        agents_ * executors_each_);
  maybe(*often_.kill_clients, "F1-client", until_client_dies_, agents_ * (1 + executors_each_),
        clients_);
}

Duration ChaosFaults::outage(Rng& rng) const {
  const double s = rng.chance(0.5) ? 3 * rng.uniform() : 120 * rng.uniform();
  return from_seconds(knobs_.faults * s);
}

void ChaosFaults::heal(World& world) {
  healed_ = true;
  Network& network = world.network();
  network.set_model(NetworkModel::lan());
  network.set_tamper(nullptr);
  network.set_queue(SIZE_MAX);
  for (const auto& [from, to] : cuts_) network.cut(from, to, false);
  cuts_.clear();
  for (const auto& [region, places] : std::exchange(racks_cut_, {})) {
    for (const Place place : places) network.move(place, 0);
  }
  for (std::uint32_t a = 0; a < agents_; ++a) world.lapse(AgentId{a}, Duration::max());
  for (const NodeId node : nodes_) {
    world.set_rate(node, 1);
    world.read_slowly(node, 0, Duration{0}, 0);
    WatchedJournal& disk = world.disk(node);
    disk.faults() = DiskFaults{};
    disk.repair();
  }
  for (std::uint32_t e = 0; e < world.executors(); ++e) {
    if (world.misled(e)) down_.insert(executor_node(e));
    world.mislead(e, nullptr);
  }
  for (const NodeId node : std::exchange(down_, {})) bring_back(world, node);
  world.keys().settle();
  for (std::uint32_t a = 0; a < agents_; ++a) hand_over_in(world, AgentId{a}, Duration{1});
  world.wake_all();
  world.refuse_deposed();
  mend_manners(world, manners_);
  for (const GpuId gpu : bad_gpus_) world.hardware().set_sick(gpu, false);
  const auto upgrade = [&](AgentId agent) {
    const Agent* core = world.agent(agent);
    world.set_protocol(agent_node(agent), kNewestProtocol);
    if (core != nullptr && core->config().protocol < kNewestProtocol)
      bring_back(world, agent_node(agent));
  };
  // Owners of the first protocol cannot be told that a drain is over: they are upgraded first.
  for (const ServerId server : drained_) upgrade(world.owner_of(server));
  // Nor do they know turns, which a gang may need where servers differ, and a job whose home's
  // machines are gone for good.
  if (servers_changed() || !servers_gone_.empty()) {
    for (std::uint32_t a = 0; a < agents_; ++a) upgrade(AgentId{a});
  }
  undo_drains(world, drained_);
  settle_queues(world);
}

FaultCounts ChaosFaults::counts(World& world) const {
  FaultCounts all = counts_;
  count_frames(world, all);
  return all;
}

}  // namespace starling
