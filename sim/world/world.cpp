// SPDX-License-Identifier: Apache-2.0
#include "sim/world/world.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bus/wire/frame_kind.h"
#include "bus/wire/places.h"
#include "sim/world/node_hash.h"
#include "sim/world/world_parts.h"

namespace starling {
namespace {

constexpr std::uint32_t kTicksAtOneInstant = 100'000;
constexpr std::uint64_t kProgressEvery = 1U << 14U;

/// Eight bytes at a time; frames are most of what a run hashes.
std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = bytes.size();
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29U;
  }
  std::uint64_t rest = 0;
  if (i < bytes.size()) std::memcpy(&rest, bytes.data() + i, bytes.size() - i);
  return mix64(hash ^ rest);
}

}  // namespace

World::World(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
World::~World() = default;

Result<std::unique_ptr<World>> World::make(const Topology& topology, const Trace& trace,
                                           const PolicyRegistry& policies,
                                           const SimOptions& options, bool restarts) {
  auto parts = std::make_unique<Parts>(topology, trace, policies, options);
  parts->restarts = restarts;
  if (Status built = parts->build(); !built.ok()) return built.error();
  return std::unique_ptr<World>(new World(std::move(parts)));
}

Status World::run() {
  for (;;) {
    Result<bool> more = step();
    if (!more) return more.error();
    if (!more.value()) return done();
  }
}

Result<bool> World::step() {
  Parts& p = *parts_;
  if (p.queue.empty() || p.stalled()) return false;
  if (p.queue.top().at > p.clock.now() && all_over()) return false;
  return step_until(kNever);
}

Result<bool> World::step_until(Instant until) {
  Parts& p = *parts_;
  if (p.queue.empty() || p.queue.top().at > until) return false;
  const SimEvent event = p.queue.pop();
  p.clock.set(event.at);
  ++p.events;
  if (Status acted = p.act(*this, event); !acted.ok()) return acted.error();
  if (p.failed) return *p.failed;
  for (const NodeId id : std::exchange(p.stopped, {})) p.on_stopped(*this, id);
  p.users_moved = p.users_moved || event.kind() == EventKind::script;
  p.note_change();
  if (p.checker != nullptr) {
    if (Status fine = p.check(); !fine.ok()) return fine.error();
  }
  if (p.options.progress && p.events % kProgressEvery == 0) {
    const Client::Counts counts = p.users->counts();
    p.options.progress(counts.over(), counts.jobs);
  }
  return true;
}

Status World::Parts::act(World& world, const SimEvent& event) {
  switch (event.kind()) {
    case EventKind::script:
      --scripts_left;
      // Taken out first: it may add scripts, which moves those that are kept.
      std::exchange(scripts[event.target], nullptr)(world);
      return done();
    case EventKind::gang_end:
      for (const std::uint32_t executor : hardware->end(event.target, event.token)) {
        if (Status woken = wake(executor_index(executor)); !woken.ok()) return woken;
      }
      return done();
    case EventKind::process:
      return hardware->advance(event.target) ? wake(executor_index(event.target)) : done();
    case EventKind::lapse:
      hardware->lapse(event.target);
      return done();
    case EventKind::exit_notice:
      return wake(executor_index(event.target));
    case EventKind::delivery:
      return deliver(event.token);
    case EventKind::submission:
    case EventKind::tick:
      return tick(event.target);
  }
  return done();
}

/// By their keys. A session has those of its client.
bool World::Parts::heard(NodeId from, NodeId to) {
  if (!keys.exchanged() || from == to || index_of(from) >= nodes.size()) return true;
  const auto holder = [this](NodeId id) {
    const std::size_t index = index_of(id);
    return is_client(index) ? client_node(static_cast<std::uint32_t>(index - client_index(0))) : id;
  };
  const NodeId a = holder(from), b = holder(to);
  if (!keys.hear(a, b)) {
    ++unheard;
    return false;
  }
  if (checker != nullptr && !(keys.knows(a, b) && keys.knows(b, a)))
    checker->heard_stranger(clock.now(), to, from);
  return true;
}

void World::Parts::record(const Network::InFlight& frame) {
  const std::size_t from = index_of(frame.from), to = index_of(frame.to),
                    most = agent_configs.size();
  const auto kind = kind_of_frame(frame.bytes);
  if (from >= most || to >= most || from == to || !kind) return;
  options.recorder->frame(clock.now(), static_cast<std::uint32_t>(from),
                          static_cast<std::uint32_t>(to), *kind);
}

void World::Parts::record_life(std::size_t index) {
  const std::size_t agents = agent_configs.size();
  if (options.recorder == nullptr || index >= executor_index(executor_configs.size())) return;
  const bool agent = index < agents;
  const auto number = static_cast<std::uint32_t>(agent ? index : index - agents);
  nodes[index]->running != nullptr ? options.recorder->up(clock.now(), agent, number)
                                   : options.recorder->down(clock.now(), agent, number);
}

Status World::Parts::deliver(std::uint32_t slot) {
  Network::InFlight frame = network.arrive(slot);
  const std::size_t index = index_of(frame.to);
  if (index >= nodes.size() || !heard(frame.from, frame.to)) return done();
  for (std::size_t d = 0; d < deposed.size(); ++d) {
    if (deposed[d]->running == nullptr || deposed[d]->id != frame.to) continue;
    if (!frame.reaches(deposed[d]->endpoint.place())) continue;
    if (!deposed[d]->endpoint.put(frame.from, frame.bytes)) continue;
    if (Status woken = wake(nodes.size() + d); !woken.ok()) return woken;
  }
  SimNode& node = *nodes[index];
  if (node.running == nullptr || node.id != frame.to || !frame.reaches(node.endpoint.place()))
    return done();
  ++messages;
  if (options.recorder != nullptr) record(frame);
  hash.add(static_cast<std::uint64_t>(clock.now().time_since_epoch().count()));
  hash.add((std::uint64_t{frame.from.value} << 32U) | frame.to.value);
  hash.add(hash_of(frame.bytes));
  if (checker != nullptr && !frame.corrupt && Checker::reads(kind_of_frame(frame.bytes))) {
    auto message = spy.decode(frame.bytes);
    const bool by_old = message.ok() && old_lives.contains(message.value().header.born);
    if (message.ok() && !by_old && !newer.contains(index)) {
      checker->arrived(clock.now(), frame.from, frame.to, message.value().message,
                       message.value().header.incarnation, message.value().header.sequence);
    }
  }
  const auto reads_at_once = [&] {
    return node.endpoint.waiting() == 0 && !paused(node) && !silent(node) &&
           node.reads_every == Duration{0};
  };
  bool alone = frame.corrupt && reads_at_once();
  if (alone) {
    // What the hardware has to say comes first, so that what changes with the frame is its doing.
    if (Status woken = wake(index); !woken.ok()) return woken;
    if (node.running == nullptr) return done();
    alone = reads_at_once();
  }
  const Footprint before = alone ? footprint_of(node) : Footprint{};
  const std::uint64_t refused = refusals(*node.running);
  if (!node.endpoint.put(frame.from, std::move(frame.bytes))) return done();
  if (Status woken = wake(index); !woken.ok()) return woken;
  return alone ? refused_well(index, before, refused) : done();
}

Status World::Parts::took(std::size_t index, const Result<Node::Cycle>& cycle) {
  SimNode& node = node_at(index);
  users_moved = users_moved || is_client(index);
  if (cycle.ok()) {
    if (checker != nullptr && index < nodes.size()) ran.push_back(index);
    if (node.stall > Duration{0}) pause(node, std::exchange(node.stall, Duration{0}));
    reschedule(index);
    return done();
  }
  if (checker != nullptr && node.journal != nullptr && node.journal->refused() &&
      node.endpoint.sent() != node.told) {
    checker->spoke_after_refusal(clock.now(), node.id);
  }
  if (index >= nodes.size()) {
    node.running.reset();
    return done();
  }
  const bool is_outlived = options.known_lives && cycle.error().code == Errc::fenced;
  if (on_stopped == nullptr || (cycle.error().code != Errc::io && !is_outlived))
    return cycle.error();
  if (is_outlived) outlived.insert(node.id);
  crash(index);
  stopped.push_back(node.id);
  return done();
}

Status World::Parts::wake(std::size_t index) {
  for (;;) {
    SimNode& node = node_at(index);
    if (node.running == nullptr || paused(node)) return done();
    node.told = node.endpoint.sent();
    const Result<Node::Cycle> cycle = node.running->absorb(node.clock.at(clock.now()));
    if (Status took_it = took(index, cycle); !took_it.ok()) return took_it;
    if (!cycle.ok() || !cycle.value().more) return done();
  }
}

Status World::Parts::tick(std::size_t index) {
  SimNode& node = node_at(index);
  if (node.running == nullptr || node.tick_at != clock.now()) return done();
  node.tick_at = kNever;
  if (paused(node)) return done();
  const Instant local = node.clock.at(clock.now());
  if (node.running->next_deadline() <= local) {
    node.ticks_now = node.last_tick == clock.now() ? node.ticks_now + 1 : 1;
    node.last_tick = clock.now();
    if (node.ticks_now > kTicksAtOneInstant) {
      return {Errc::invalid, "node " + std::to_string(node.id.value) + " never stops deciding at " +
                                 std::to_string(seconds(clock.now().time_since_epoch())) + " s"};
    }
    node.told = node.endpoint.sent();
    return took(index, node.running->pump(local));
  }
  reschedule(index);
  return done();
}

void World::Parts::reschedule(std::size_t index) {
  SimNode& node = node_at(index);
  if (paused(node) || silent(node)) return;  // resume() looks again
  const Instant when = std::max(node.clock.when(node.running->next_deadline()), clock.now());
  if (when >= node.tick_at) return;
  node.tick_at = when;
  queue.push(when, is_client(index) ? EventKind::submission : EventKind::tick,
             static_cast<std::uint32_t>(index));
}

std::size_t World::Parts::index_of(NodeId id) const {
  if (id.value >= kFirstClient)
    return client_index((id.value - kFirstClient) % kPlaces);  // whichever session
  if (id.value >= kFirstExecutor) {
    const std::uint32_t executor = id.value - kFirstExecutor;
    return executor < executor_configs.size() ? executor_index(executor) : nodes.size();
  }
  const bool known = id.value > 0 && id.value <= agent_configs.size();
  return known ? id.value - 1 : nodes.size();
}

/// Whether hardware or client have news: a world without any for long is stuck.
void World::Parts::note_change() {
  if (!std::exchange(users_moved, false) && hardware->changes() == hardware_then) return;
  hardware_then = hardware->changes();
  const Client::Counts counts = users->counts();
  const std::uint64_t changes =
      hardware->changes() + counts.sent + counts.accepted + counts.started + counts.over();
  if (changes == seen_changes) return;
  seen_changes = changes;
  last_change = clock.now();
  const std::uint64_t out = counts.over() + hardware->moving_gangs();
  timeline.note(seconds(clock.now().time_since_epoch()), hardware->busy_gpus(),
                counts.sent > out ? static_cast<std::uint32_t>(counts.sent - out) : 0);
}

bool World::Parts::stalled() const {
  if (clock.now() - last_change <= kStalled || hardware->moving_gangs() > 0 || scripts_left > 0)
    return false;
  const Client::Counts counts = users->counts();
  return counts.sent == counts.jobs;
}

const Agent* World::Parts::agent_core(std::size_t index) const {
  if (index >= agent_configs.size() || nodes[index]->running == nullptr) return nullptr;
  return &static_cast<const AgentNode&>(*nodes[index]->running).core();
}

void World::set_protocol(NodeId id, std::uint16_t protocol) {
  const std::size_t index = parts_->index_of(id);
  const std::size_t agents = parts_->agent_configs.size();
  if (index < agents) {
    parts_->agent_configs[index].protocol = protocol;
  } else {
    parts_->executor_configs.at(index - agents).protocol = protocol;
  }
}

std::uint16_t World::protocol(NodeId id) const {
  const std::size_t index = parts_->index_of(id);
  const std::size_t agents = parts_->agent_configs.size();
  return index < agents ? parts_->agent_configs[index].protocol
                        : parts_->executor_configs.at(index - agents).protocol;
}

void World::note(const std::string& what) {
  if (RunRecorder* const recorder = parts_->options.recorder) recorder->note(now(), what);
}

void World::drain(ServerId server, bool drained, bool evict) {
  if (server.value >= topology().server_count()) return;  // it has left
  const auto frame = parts_->spy.encode({kNewestProtocol, Incarnation{1}, 1},
                                        SetDrain{server, drained, evict, ++parts_->drain_words});
  parts_->network.send(client_node(parts_->users->places()), agent_node(owner_of(server)), frame);
}

AgentId World::owner_of(ServerId server) const {
  for (const PeerAgent& peer : parts_->agent_configs.front().flock) {
    if (peer.partition.servers.contains(server.value)) return peer.agent;
  }
  check_failed("every server has an executor", __FILE__, __LINE__);
}

NodeCounters World::counters(NodeId id) const {
  const std::size_t index = parts_->index_of(id);
  const bool up = index < parts_->nodes.size() && parts_->nodes[index]->running != nullptr;
  return up ? parts_->nodes[index]->running->counters() : NodeCounters{};
}

Instant World::now() const noexcept { return parts_->clock.now(); }
const Topology& World::topology() const noexcept { return parts_->topology; }
Network& World::network() noexcept { return parts_->network; }
Hardware& World::hardware() noexcept { return *parts_->hardware; }
Keys& World::keys() noexcept { return parts_->keys; }
std::uint64_t World::unheard() const noexcept { return parts_->unheard; }
const Agent* World::agent(AgentId agent) const { return parts_->agent_core(agent.value); }
const Executor* World::executor(std::uint32_t executor) const {
  const Node* running = parts_->nodes[parts_->executor_index(executor)]->running.get();
  return running == nullptr ? nullptr : &static_cast<const ExecutorNode&>(*running).core();
}
std::uint32_t World::agents() const noexcept {
  return static_cast<std::uint32_t>(parts_->agent_configs.size());
}
std::uint32_t World::executors() const noexcept {
  return static_cast<std::uint32_t>(parts_->executor_configs.size());
}
const Users& World::users() const noexcept { return *parts_->users; }
bool World::all_over() const {
  return parts_->users->all_over([this](JobId job) { return parts_->over_by_journals(job); });
}
bool World::accepted(JobId job) const { return parts_->checker->accepted(job); }
std::optional<JobPhase> World::end_of(JobId job) const {
  return parts_->checker->ended(job) ? std::optional(parts_->checker->end_of(job)) : std::nullopt;
}
const QueueTree& World::queues(AgentId agent) const { return parts_->checker->queues_of(agent); }
std::uint64_t World::messages() const noexcept { return parts_->messages; }

}  // namespace starling
