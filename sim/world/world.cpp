// SPDX-License-Identifier: Apache-2.0
#include "sim/world/world.h"

#include <algorithm>
#include <cstring>
#include <utility>

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
  if (all_over() && p.queue.top().at > p.clock.now()) return false;
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
  for (const NodeId node : std::exchange(p.stopped, {})) p.on_stopped(*this, node);
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
        if (Status woken = wake(executor_seat(executor)); !woken.ok()) return woken;
      }
      return done();
    case EventKind::process:
      return hardware->advance(event.target) ? wake(executor_seat(event.target)) : done();
    case EventKind::lapse:
      hardware->lapse(event.target);
      return done();
    case EventKind::exit_notice:
      return wake(executor_seat(event.target));
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
  if (!keys.exchanged() || from == to || seat_of(from) >= seats.size()) return true;
  const auto holder = [this](NodeId node) {
    const std::size_t seat = seat_of(node);
    return is_client(seat) ? client_node(static_cast<std::uint32_t>(seat - client_seat(0))) : node;
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

Status World::Parts::deliver(std::uint32_t slot) {
  Network::InFlight frame = network.arrive(slot);
  const std::size_t index = seat_of(frame.to);
  if (index >= seats.size() || !heard(frame.from, frame.to)) return done();
  for (std::size_t d = 0; d < deposed.size(); ++d) {
    if (deposed[d]->node == nullptr || deposed[d]->id != frame.to) continue;
    if (!frame.reaches(deposed[d]->endpoint.place())) continue;
    if (!deposed[d]->endpoint.put(frame.from, frame.bytes)) continue;
    if (Status woken = wake(seats.size() + d); !woken.ok()) return woken;
  }
  Seat& seat = *seats[index];
  if (seat.node == nullptr || seat.id != frame.to || !frame.reaches(seat.endpoint.place()))
    return done();
  ++messages;
  hash.add(static_cast<std::uint64_t>(clock.now().time_since_epoch().count()));
  hash.add((std::uint64_t{frame.from.value} << 32U) | frame.to.value);
  hash.add(hash_of(frame.bytes));
  if (checker != nullptr && !frame.corrupt) {
    auto message = spy.decode(frame.bytes);
    const bool by_old = message.ok() && old_lives.contains(message.value().header.born);
    if (message.ok() && !by_old && !newer.contains(index)) {
      checker->arrived(clock.now(), frame.from, frame.to, message.value().message,
                       message.value().header.incarnation, message.value().header.sequence);
    }
  }
  const auto reads_at_once = [&] {
    return seat.endpoint.waiting() == 0 && !paused(seat) && !silent(seat) &&
           seat.reads_every == Duration{0};
  };
  bool alone = frame.corrupt && reads_at_once();
  if (alone) {
    // What the hardware has to say comes first, so that what changes with the frame is its doing.
    if (Status woken = wake(index); !woken.ok()) return woken;
    if (seat.node == nullptr) return done();
    alone = reads_at_once();
  }
  const Footprint before = alone ? footprint_of(seat) : Footprint{};
  const std::uint64_t refused = refusals(*seat.node);
  if (!seat.endpoint.put(frame.from, std::move(frame.bytes))) return done();
  if (Status woken = wake(index); !woken.ok()) return woken;
  return alone ? refused_well(index, before, refused) : done();
}

Status World::Parts::took(std::size_t index, const Result<Node::Turn>& turn) {
  Seat& seat = seat_at(index);
  if (turn.ok()) {
    if (checker != nullptr && index < seats.size()) turned.push_back(index);
    if (seat.stall > Duration{0}) pause(seat, std::exchange(seat.stall, Duration{0}));
    reschedule(index);
    return done();
  }
  if (checker != nullptr && seat.journal != nullptr && seat.journal->refused() &&
      seat.endpoint.sent() != seat.told) {
    checker->spoke_after_refusal(clock.now(), seat.id);
  }
  if (index >= seats.size()) {
    seat.node.reset();
    return done();
  }
  const bool is_outlived = options.known_lives && turn.error().code == Errc::fenced;
  if (on_stopped == nullptr || (turn.error().code != Errc::io && !is_outlived)) return turn.error();
  if (is_outlived) outlived.insert(seat.id);
  crash(index);
  stopped.push_back(seat.id);
  return done();
}

Status World::Parts::wake(std::size_t index) {
  for (;;) {
    Seat& seat = seat_at(index);
    if (seat.node == nullptr || paused(seat)) return done();
    seat.told = seat.endpoint.sent();
    const Result<Node::Turn> turn = seat.node->absorb(seat.clock.at(clock.now()));
    if (Status took_it = took(index, turn); !took_it.ok()) return took_it;
    if (!turn.ok() || !turn.value().more) return done();
  }
}

Status World::Parts::tick(std::size_t index) {
  Seat& seat = seat_at(index);
  if (seat.node == nullptr || seat.tick_at != clock.now()) return done();
  seat.tick_at = kNever;
  if (paused(seat)) return done();
  const Instant local = seat.clock.at(clock.now());
  if (seat.node->next_deadline() <= local) {
    seat.ticks_now = seat.last_tick == clock.now() ? seat.ticks_now + 1 : 1;
    seat.last_tick = clock.now();
    if (seat.ticks_now > kTicksAtOneInstant) {
      return {Errc::invalid, "node " + std::to_string(seat.id.value) + " never stops deciding at " +
                                 std::to_string(seconds(clock.now().time_since_epoch())) + " s"};
    }
    seat.told = seat.endpoint.sent();
    return took(index, seat.node->pump(local));
  }
  reschedule(index);
  return done();
}

void World::Parts::reschedule(std::size_t index) {
  Seat& seat = seat_at(index);
  if (paused(seat) || silent(seat)) return;  // resume() looks again
  const Instant when = std::max(seat.clock.when(seat.node->next_deadline()), clock.now());
  if (when >= seat.tick_at) return;
  seat.tick_at = when;
  queue.push(when, is_client(index) ? EventKind::submission : EventKind::tick,
             static_cast<std::uint32_t>(index));
}

std::size_t World::Parts::seat_of(NodeId node) const {
  if (node.value >= kFirstClient)
    return client_seat((node.value - kFirstClient) % kPlaces);  // whichever session
  if (node.value >= kFirstExecutor) {
    const std::uint32_t executor = node.value - kFirstExecutor;
    return executor < executor_configs.size() ? executor_seat(executor) : seats.size();
  }
  const bool known = node.value > 0 && node.value <= agent_configs.size();
  return known ? node.value - 1 : seats.size();
}

/// Whether hardware or client have news: a world without any for long is stuck.
void World::Parts::note_change() {
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
  const Client::Counts counts = users->counts();
  return counts.sent == counts.jobs && hardware->moving_gangs() == 0 && scripts_left == 0 &&
         clock.now() - last_change > kStalled;
}

const Agent* World::Parts::agent_core(std::size_t index) const {
  if (index >= agent_configs.size() || seats[index]->node == nullptr) return nullptr;
  return &static_cast<const AgentNode&>(*seats[index]->node).core();
}

void World::set_protocol(NodeId node, std::uint16_t protocol) {
  const std::size_t index = parts_->seat_of(node);
  const std::size_t agents = parts_->agent_configs.size();
  if (index < agents) {
    parts_->agent_configs[index].protocol = protocol;
  } else {
    parts_->executor_configs.at(index - agents).protocol = protocol;
  }
}

std::uint16_t World::protocol(NodeId node) const {
  const std::size_t index = parts_->seat_of(node);
  const std::size_t agents = parts_->agent_configs.size();
  return index < agents ? parts_->agent_configs[index].protocol
                        : parts_->executor_configs.at(index - agents).protocol;
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
  check_failed("every server is somebody's", __FILE__, __LINE__);
}

NodeCounters World::counters(NodeId node) const {
  const std::size_t index = parts_->seat_of(node);
  const bool up = index < parts_->seats.size() && parts_->seats[index]->node != nullptr;
  return up ? parts_->seats[index]->node->counters() : NodeCounters{};
}

Instant World::now() const noexcept { return parts_->clock.now(); }
const Topology& World::topology() const noexcept { return parts_->topology; }
Network& World::network() noexcept { return parts_->network; }
Hardware& World::hardware() noexcept { return *parts_->hardware; }
Keys& World::keys() noexcept { return parts_->keys; }
std::uint64_t World::unheard() const noexcept { return parts_->unheard; }
const Agent* World::agent(AgentId agent) const { return parts_->agent_core(agent.value); }
const Executor* World::executor(std::uint32_t executor) const {
  const Node* node = parts_->seats[parts_->executor_seat(executor)]->node.get();
  return node == nullptr ? nullptr : &static_cast<const ExecutorNode&>(*node).core();
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
std::uint64_t World::messages() const noexcept { return parts_->messages; }

}  // namespace starling
