// SPDX-License-Identifier: Apache-2.0
// A flock whose servers are others from a moment on.
#include <algorithm>
#include <utility>

#include "agents/executor/executor_state.h"
#include "agents/renumber.h"
#include "base/hash.h"
#include "interference/models.h"
#include "sim/world/world_parts.h"
#include "topology/fingerprint.h"

namespace starling {

const World::Parts::Generation* World::Parts::writer_of(std::span<const Record> recovered) const {
  const std::uint64_t read = topology_read(recovered);
  if (earlier.empty() || read == agent_configs.front().topology) return nullptr;
  if (read == 0) return &earlier.front();
  const auto was = std::find_if(earlier.rbegin(), earlier.rend(),
                                [&](const Generation& g) { return g.fingerprint() == read; });
  return was == earlier.rend() ? nullptr : &*was;  // of a wrong file
}

Result<std::vector<Record>> World::Parts::in_numbers_of(std::size_t index, const Generation& was,
                                                        std::span<const Record> recovered,
                                                        const Topology& after,
                                                        std::uint64_t fingerprint) const {
  const auto numbers = renumbering(was.topology, after);
  if (!numbers) return numbers.error();
  const LifeBegan last = last_life(recovered);
  std::vector<Record> snapshot;
  if (index < agent_configs.size()) {
    auto policy = policies.make(options.policy);
    if (!policy) return policy.error();
    AgentConfig config = was.agents[index];
    config.incarnation = last.incarnation;
    config.epoch = last.epoch;
    config.calendar = *config.calendar + clock.now().time_since_epoch();
    const std::unique_ptr<SpeedModel> flat = make_flat_speed();
    snapshot =
        Agent(config, was.topology, *flat, std::move(policy).value(), Rng(1), recovered).snapshot();
  } else {
    ExecutorConfig config = was.executors[index - agent_configs.size()];
    config.incarnation = last.incarnation;
    if (Status fits = fits_journal(config, was.topology, recovered); !fits.ok())
      return fits.error();
    snapshot = Executor(config, was.topology, recovered).snapshot();
  }
  return renumbered_journal(std::move(snapshot), recovered, numbers.value(), was.topology,
                            fingerprint);
}

Status World::Parts::translate(std::size_t index, std::vector<Record>& recovered) {
  if (earlier.empty()) return done();
  Journal& journal = *nodes[index]->journal;
  const std::uint64_t now = agent_configs.front().topology;
  if (recovered.empty()) {
    recovered = {TopologyRead{now}};
    return journal.append(recovered);
  }
  const Generation* was = writer_of(recovered);
  if (was == nullptr) return done();
  auto records = in_numbers_of(index, *was, recovered, topology, now);
  if (!records) return records.error();
  const auto numbers = renumbering(was->topology, topology);
  if (!numbers) return numbers.error();
  if (Status put = replace_renumbered(journal, records.value(), numbers.value(), was->topology);
      !put.ok())
    return put;
  recovered = std::move(records).value();
  return done();
}

/// Whether every journal can be said in the numbers of `after`. Nodes go on with theirs meanwhile.
Status World::Parts::may_change(const Topology& after, std::uint64_t fingerprint) {
  const Generation present{topology, agent_configs, executor_configs};
  for (std::size_t index = 0; index < client_index(0); ++index) {
    if (const auto executor = executor_of(*nodes[index]); executor && retired.contains(*executor))
      continue;
    const auto old = newer.find(index);
    const WatchedJournal& journal =
        old == newer.end() ? *nodes[index]->journal : *old->second.journal;
    if (journal.damaged()) return {Errc::invalid, "a journal is damaged"};
    MemoryJournal copy = *journal.copy();
    const auto recovered = copy.recover();
    if (!recovered) return recovered.error();
    if (recovered.value().empty()) continue;
    const Generation* was = writer_of(recovered.value());
    const auto moved = in_numbers_of(index, was == nullptr ? present : *was, recovered.value(),
                                     after, fingerprint);
    if (!moved) return moved.error();
  }
  return done();
}

/// Connections end with processes, and with them what was on its way.
void World::Parts::end_all_daemons() {
  for (const auto& old : deposed) old->running.reset();
  for (std::size_t index = 0; index < client_index(0); ++index) {
    crash(index);
    network.disconnect(nodes[index]->id);
  }
}

void World::Parts::take_ranges(std::span<const IndexRange> executors, std::uint64_t fingerprint) {
  const auto gpus_of = [this](IndexRange servers) {
    return IndexRange{topology.server(ServerId{servers.first}).gpus.first,
                      topology.server(ServerId{servers.last - 1}).gpus.last};
  };
  std::vector<PeerAgent> flock = agent_configs.front().flock;
  for (PeerAgent& peer : flock) peer.partition.servers = {};
  for (std::uint32_t e = 0; e < executors.size(); ++e) {
    ExecutorConfig& config = executor_configs[e];
    config.servers = executors[e];
    config.topology = fingerprint;
    if (executors[e].size() == 0) {
      if (!retired.insert(e).second) continue;
      nodes[executor_index(e)]->journal->erase();
      if (checker != nullptr) checker->new_disk(config.me);
      continue;
    }
    IndexRange& all = flock[config.partition.value].partition.servers;
    if (all.size() == 0) all.first = executors[e].first;
    all.last = executors[e].last;
  }
  for (PeerAgent& peer : flock) peer.partition.gpus = gpus_of(peer.partition.servers);
  for (AgentConfig& agent : agent_configs) {
    agent.flock = flock;
    agent.topology = fingerprint;
    agent.executors.clear();
    for (const ExecutorConfig& config : executor_configs) {
      if (config.owner == agent.me && config.servers.size() > 0)
        agent.executors.push_back({config.me, config.servers});
    }
  }
}

Result<Renumbering> World::change_servers(const Topology& after,
                                          std::span<const IndexRange> executors) {
  Parts& p = *parts_;
  STARLING_CHECK(executors.size() == p.executor_configs.size());
  auto numbers = renumbering(p.topology, after);
  if (!numbers) return numbers;
  // As fingerprint_in() in the program: each generation has one of its own.
  const std::uint64_t fingerprint = mix64(fingerprint_of(after) + p.earlier.size() + 1) | 1U;
  if (Status may = p.may_change(after, fingerprint); !may.ok()) return may.error();
  p.end_all_daemons();
  p.misled.clear();
  p.earlier.push_back({p.topology, p.agent_configs, p.executor_configs});
  p.topology = after;
  p.take_ranges(executors, fingerprint);
  p.past_physics.push_back(std::move(p.physics));
  if (Status made = p.make_models(); !made.ok()) return made.error();
  p.oracle = std::make_unique<SimOracle>(p.trace, *p.physics, *p.hardware, p.clock);
  const std::string uprooted = p.hardware->change(*p.physics, numbers.value());
  if (p.options.recorder != nullptr) p.options.recorder->renumber(now(), numbers.value());
  if (p.checker == nullptr) return numbers;
  p.checker->renumber(now(), numbers.value(), p.agent_configs.front().flock);
  if (!uprooted.empty()) p.checker->uprooted(now(), uprooted);
  return numbers;
}

IndexRange World::servers_of(std::uint32_t executor) const {
  return parts_->executor_configs[executor].servers;
}

Status World::can_start(NodeId id, const Backup& backup) const {
  const Parts& p = *parts_;
  MemoryJournal copy = *backup.journal;
  const auto recovered = copy.recover();
  if (!recovered) return recovered.error();
  const Parts::Generation* was = p.writer_of(recovered.value());
  if (was == nullptr) return done();
  const auto moved = p.in_numbers_of(p.index_of(id), *was, recovered.value(), p.topology,
                                     p.agent_configs.front().topology);
  return moved ? done() : Status(moved.error());
}

/// What stands there is in the numbers of its time.
void World::Parts::check_restored(NodeId id, std::span<const Record> records) {
  checker->restored(id, records);
  const Generation* was = records.empty() ? nullptr : writer_of(records);
  if (was == nullptr) return;
  if (const auto numbers = renumbering(was->topology, topology); numbers.ok())
    checker->renumber(clock.now(), id, numbers.value());
}

}  // namespace starling
