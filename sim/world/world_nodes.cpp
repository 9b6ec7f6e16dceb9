// SPDX-License-Identifier: Apache-2.0
// What can happen to single nodes of the world besides its events.
#include <algorithm>
#include <utility>

#include "agents/accept_loss.h"
#include "base/check.h"
#include "bus/wire/places.h"
#include "sim/world/world_parts.h"

namespace starling {
namespace {

// So much more than any peer can know that none has to be asked.
constexpr std::uint64_t kLivesSkipped = 1000, kRecordsSkipped = 1'000'000'000;

}  // namespace

void World::Parts::in(Duration lasts, std::function<void(World&)> what) {
  queue.push(later(clock.now(), lasts), EventKind::script,
             static_cast<std::uint32_t>(scripts.size()));
  scripts.push_back(std::move(what));
  ++scripts_left;
}

void World::at(Instant when, std::function<void(World&)> what) {
  parts_->queue.push(when, EventKind::script, static_cast<std::uint32_t>(parts_->scripts.size()));
  parts_->scripts.push_back(std::move(what));
  ++parts_->scripts_left;
}

std::size_t World::Parts::index_of(const SimNode& node) const {
  const auto same = [&](const std::unique_ptr<SimNode>& s) { return s.get() == &node; };
  const auto at = std::find_if(nodes.begin(), nodes.end(), same);
  if (at != nodes.end()) return static_cast<std::size_t>(at - nodes.begin());
  const auto old = std::find_if(deposed.begin(), deposed.end(), same);
  return nodes.size() + static_cast<std::size_t>(old - deposed.begin());
}

/// Writes that take long hold up what the same cycle says, and the cycles after it.
void World::Parts::watch_disk(SimNode& node) {
  node.journal->on_slow([&node](Duration lasts) {
    node.endpoint.hold();
    node.stall += lasts;
  });
}

void World::Parts::crash(std::size_t index) {
  SimNode& node = *nodes[index];
  if (newer.contains(index)) return put_back(index);
  if (node.running == nullptr) return;
  if (checker != nullptr && restarts) {
    if (Status same = compare_with_journal(index); !same.ok())
      checker->memory_differs(clock.now(), node.id, same.error().message);
  }
  if (const Agent* agent = agent_core(index)) past.add(agent->status());
  node.running.reset();
  node.tick_at = kNever;
  node.paused_until = Instant{};
  node.stall = Duration{0};
  node.endpoint.clear();
  record_life(index);
}

void World::Parts::put_back(std::size_t index) {
  Newer state = std::move(newer.at(index));
  SimNode& node = *nodes[index];
  node.running.reset();
  node.tick_at = kNever;
  node.paused_until = Instant{};
  node.stall = Duration{0};
  node.endpoint.clear();
  node.journal = std::move(state.journal);
  AgentConfig& config = agent_configs[index];
  // The copy has used a number, too: the first start with it was refused, the next one is not.
  config.incarnation = std::max(state.life, config.incarnation);
  newer.erase(index);
  record_life(index);
}

void World::Parts::depose(std::size_t agent, Duration lasts) {
  if (newer.contains(agent)) put_back(agent);
  if (nodes[agent]->running == nullptr) {
    nodes[agent]->journal = nodes[agent]->journal->succeed();
    nodes[agent]->endpoint.move(new_place());
    watch_disk(*nodes[agent]);
    return;
  }
  past.add(agent_core(agent)->status());
  auto next = std::make_unique<SimNode>(nodes[agent]->id, network);
  next->endpoint.move(new_place());
  next->journal = nodes[agent]->journal->succeed();
  watch_disk(*next);
  const std::size_t index = nodes.size() + deposed.size();
  deposed.push_back(std::exchange(nodes[agent], std::move(next)));
  deposed.back()->tick_at = kNever;
  reschedule(index);
  in(lasts, [this, index](World&) { node_at(index).running.reset(); });
}

std::optional<std::uint32_t> World::Parts::executor_of(const SimNode& node) const {
  const std::uint32_t number = node.id.value - kFirstExecutor;
  if (node.id.value < kFirstExecutor || number >= executor_configs.size()) return std::nullopt;
  return number;
}

void World::Parts::pause(SimNode& node, Duration lasts) {
  const Instant until = later(clock.now(), lasts);
  if (until <= node.paused_until) return;
  node.paused_until = until;
  in(lasts, [this, &node](World&) {
    if (const Status resumed = resume(node); !resumed.ok()) failed = resumed.error();
  });
}

Status World::Parts::resume(SimNode& node) {
  if (node.running == nullptr || paused(node)) return done();
  node.endpoint.let_go();
  const std::size_t index = index_of(node);
  if (Status woken = wake(index); !woken.ok()) return woken;
  if (node.running != nullptr) reschedule(index);
  return done();
}

std::vector<std::byte>& World::policy_memory(AgentId agent) {
  return parts_->remembered[agent.value];
}

std::vector<std::byte>& World::speed_memory(AgentId agent) { return parts_->learned[agent.value]; }

std::uint64_t World::memories_left_behind() const noexcept { return parts_->left_behind; }

void World::crash_agent(AgentId agent) { parts_->crash(agent.value); }

Status World::restart_agent(AgentId agent) {
  parts_->crash(agent.value);
  AgentConfig& config = parts_->agent_configs[agent.value];
  ++config.incarnation.value;
  config.roll_call = parts_->roll_call();
  return parts_->start_agent(agent.value);
}

Status World::take_over(AgentId agent, Duration lasts) {
  parts_->depose(agent.value, lasts);
  ++parts_->agent_configs[agent.value].incarnation.value;
  parts_->agent_configs[agent.value].roll_call = Duration{0};
  parts_->agent_configs[agent.value].epoch = Epoch{++parts_->authorities[agent.value].epoch.value};
  return parts_->start_agent(agent.value);
}

bool World::try_take_over(AgentId agent, Epoch expect, Duration lasts) {
  return expect == epoch(agent) && take_over(agent, lasts).ok();
}

Epoch World::epoch(AgentId agent) const { return parts_->authorities[agent.value].epoch; }

bool World::any_deposed(AgentId agent) const {
  return std::any_of(parts_->deposed.begin(), parts_->deposed.end(), [&](const auto& node) {
    return node->running != nullptr && node->id == agent_node(agent);
  });
}

void World::refuse_deposed() {
  Parts& p = *parts_;
  for (const auto& node : p.deposed) {
    if (node->running == nullptr) continue;
    const Instant renews =
        node->clock.when(later(node->clock.at(now()), p.options.timers.heartbeat));
    if (renews != kNever) at(renews, [old = node.get()](World&) { old->running.reset(); });
  }
}

void World::lapse(AgentId agent, Duration lasts) {
  Parts& p = *parts_;
  SimNode& node = *p.nodes[agent.value];
  if (node.running == nullptr) return;
  node.running->may_speak_until(lasts == Duration::max() ? kNever : node.clock.at(now()) + lasts);
  if (const Status resumed = p.resume(node); !resumed.ok()) p.failed = resumed.error();
}

Place World::place_of(NodeId id) const {
  return parts_->nodes[parts_->index_of(id)]->endpoint.place();
}

bool World::any_deposed_speaks(AgentId agent) const {
  return std::any_of(parts_->deposed.begin(), parts_->deposed.end(), [&](const auto& node) {
    return node->running != nullptr && node->id == agent_node(agent) && !parts_->silent(*node);
  });
}

void World::crash_executor(std::uint32_t executor) {
  parts_->crash(parts_->executor_index(executor));
}

Status World::restart_executor(std::uint32_t executor) {
  parts_->crash(parts_->executor_index(executor));
  parts_->hardware->wake(executor);  // a person has pressed a key
  ++parts_->executor_configs[executor].incarnation.value;
  return parts_->start_executor(executor);
}

void World::lose_host(std::uint32_t executor, bool disk) {
  crash_executor(executor);
  parts_->hardware->lose_host(executor);
  if (!disk) return;
  parts_->nodes[parts_->executor_index(executor)]->journal->erase();
  parts_->network.disconnect(executor_node(executor));
  if (parts_->checker != nullptr) parts_->checker->new_disk(executor_node(executor));
}

void World::retire(std::uint32_t executor) {
  lose_host(executor, true);
  parts_->retired.insert(executor);
}

World::Backup World::backup(NodeId id) const {
  const std::size_t index = parts_->index_of(id), agents = parts_->agent_configs.size();
  const Incarnation life = index < agents ? parts_->agent_configs[index].incarnation
                                          : parts_->executor_configs.at(index - agents).incarnation;
  return {parts_->nodes[index]->journal->copy(), life};
}

bool World::knows_newer(NodeId peer, NodeId of, const Backup& backup) const {
  const SimNode& node = *parts_->nodes[parts_->index_of(peer)];
  return node.running != nullptr && !parts_->paused(node) &&
         node.running->knows_beyond(of, Incarnation{backup.life.value + 1},
                                    backup.journal->position());
}

void World::restore_executor(std::uint32_t executor, const Backup& backup) {
  Parts& p = *parts_;
  lose_host(executor, true);
  WatchedJournal& journal = *p.nodes[p.executor_index(executor)]->journal;
  journal.restore(*backup.journal);
  Incarnation& lost = p.lives_lost[executor];
  lost = std::max(lost, p.executor_configs[executor].incarnation);
  p.executor_configs[executor].incarnation = backup.life;
  if (p.checker != nullptr) p.check_restored(executor_node(executor), journal.recover().value());
}

void World::accept_loss(std::uint32_t executor) {
  Parts& p = *parts_;
  Incarnation& life = p.executor_configs[executor].incarnation;
  if (const auto lost = p.lives_lost.find(executor); lost != p.lives_lost.end())
    life = std::max(life, lost->second);
  life.value += kLivesSkipped;
  MemoryJournal& disk = p.nodes[p.executor_index(executor)]->journal->disk();
  disk.go_beyond(disk.position() + kRecordsSkipped);
  p.outlived.erase(executor_node(executor));
}

void World::accept_loss(AgentId agent, const Backup& left) {
  Parts& p = *parts_;
  p.crash(agent.value);
  for (const char* rule : {"S5", "S6", "S13", "S16", "S25"}) excuse(rule);
  WatchedJournal& journal = *p.nodes[agent.value]->journal;
  const std::uint64_t known = journal.position();
  journal.restore(*left.journal);
  journal.disk().go_beyond(known + kRecordsSkipped);
  AgentConfig& config = p.agent_configs[agent.value];
  config.incarnation.value = std::max(config.incarnation, left.life).value + kLivesSkipped;
  const std::vector<Record> records = journal.recover().value();
  if (p.checker != nullptr) p.check_restored(agent_node(agent), records);
  const OpenJobs open = end_open_jobs(agent, records, "its outcome is unknown");
  journal.start();
  STARLING_CHECK(open.records.empty() || journal.append(open.records).ok());
  p.outlived.erase(agent_node(agent));
}

Status World::start_old_copy(AgentId agent, const Backup& backup) {
  Parts& p = *parts_;
  STARLING_CHECK(p.options.known_lives);
  p.crash(agent.value);
  SimNode& node = *p.nodes[agent.value];
  auto copy = std::make_unique<WatchedJournal>(MemoryJournal::Keep::bytes, nullptr);
  copy->restore(*backup.journal);
  AgentConfig& config = p.agent_configs[agent.value];
  p.newer[agent.value] = {std::exchange(node.journal, std::move(copy)), config.incarnation};
  config.incarnation = Incarnation{backup.life.value + 1};
  config.roll_call = p.roll_call();
  return p.start_agent(agent.value);
}

bool World::is_old_copy(AgentId agent) const { return parts_->newer.contains(agent.value); }
bool World::outlived(NodeId id) const { return parts_->outlived.contains(id); }

bool World::retired(std::uint32_t executor) const { return parts_->retired.contains(executor); }

void World::set_calendar(AgentId agent, Duration off) {
  // The world's clock goes on over all lives.
  parts_->agent_configs[agent.value].calendar = kRightCalendar + off;
}

void World::excuse(const std::string& rule) {
  if (parts_->checker != nullptr) parts_->checker->excuse(rule);
}

void World::pause(NodeId id, Duration lasts) {
  SimNode& node = *parts_->nodes[parts_->index_of(id)];
  if (node.running != nullptr) parts_->pause(node, lasts);
}

void World::suspend(NodeId id, Duration lasts) {
  SimNode& node = *parts_->nodes[parts_->index_of(id)];
  if (node.running == nullptr) return;
  if (const auto executor = parts_->executor_of(node); executor && !parts_->paused(node)) {
    parts_->hardware->sleep(*executor);
    parts_->in(lasts, [this, e = *executor](World&) { parts_->hardware->wake(e); });
  }
  parts_->pause(node, lasts);
}

void World::set_rate(NodeId id, double rate) {
  const std::size_t index = parts_->index_of(id);
  SimNode& node = *parts_->nodes[index];
  node.clock.set_rate(now(), rate);
  if (const auto executor = parts_->executor_of(node)) parts_->hardware->clock_changed(*executor);
  node.tick_at = kNever;
  if (node.running != nullptr) parts_->reschedule(index);
}

void World::wake_all() {
  for (const auto& node : parts_->deposed) {
    node->paused_until = Instant{};
    if (const Status resumed = parts_->resume(*node); !resumed.ok())
      parts_->failed = resumed.error();
  }
  for (const auto& node : parts_->nodes) {
    node->paused_until = Instant{};
    if (const auto executor = parts_->executor_of(*node)) parts_->hardware->wake(*executor);
    if (const Status resumed = parts_->resume(*node); !resumed.ok())
      parts_->failed = resumed.error();
  }
}

void World::read_slowly(NodeId id, std::size_t frames, Duration every, std::size_t room) {
  SimNode& node = *parts_->nodes[parts_->index_of(id)];
  const bool was_slow = node.reads_every > Duration{0};
  node.reads = frames;
  node.reads_every = every;
  node.endpoint.set_room(every > Duration{0} ? room : SimEndpoint::kAll);
  node.endpoint.allow(every > Duration{0} ? 0 : SimEndpoint::kAll);
  if (was_slow) {
    if (const Status resumed = parts_->resume(node); !resumed.ok())
      parts_->failed = resumed.error();
  } else if (every > Duration{0}) {
    parts_->read_some(node);
  }
}

/// One more helping of what waits, again and again while the reader is slow.
void World::Parts::read_some(SimNode& node) {
  if (node.reads_every == Duration{0}) return;
  node.endpoint.allow(node.reads);
  if (const Status woken = wake(index_of(node)); !woken.ok()) failed = woken.error();
  node.endpoint.allow(0);
  in(node.reads_every, [this, &node](World&) { read_some(node); });
}

WatchedJournal& World::disk(NodeId id) {
  const std::size_t index = parts_->index_of(id);
  const auto old = parts_->newer.find(index);
  return old == parts_->newer.end() ? *parts_->nodes[index]->journal : *old->second.journal;
}

void World::compact(NodeId id) {
  SimNode& node = *parts_->nodes[parts_->index_of(id)];
  if (node.running == nullptr || parts_->paused(node)) return;
  if (parts_->index_of(id) < parts_->agent_configs.size()) {
    (void)static_cast<AgentNode&>(*node.running).compact();
  } else {
    (void)static_cast<ExecutorNode&>(*node.running).compact();
  }
}

void World::on_stopped(std::function<void(World&, NodeId)> call) {
  parts_->on_stopped = std::move(call);
}

void World::mislead(std::uint32_t executor, const Topology* topology) {
  if (topology == nullptr) {
    parts_->misled.erase(executor);
  } else {
    parts_->other_topology = topology;
    parts_->misled.insert(executor);
  }
}

bool World::misled(std::uint32_t executor) const { return parts_->misled.contains(executor); }

}  // namespace starling
