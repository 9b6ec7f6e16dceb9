// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/executor/executor_state.h"
#include "interference/dl2_physics.h"
#include "interference/flows/coupled_gangs.h"
#include "interference/measured_physics.h"
#include "interference/models.h"
#include "policies/foresight.h"
#include "sim/run/told_policy.h"
#include "sim/world/world_parts.h"
#include "topology/fingerprint.h"
#include "topology/partition.h"

namespace starling {
namespace {

// One stream of random numbers per purpose.
enum Salt : std::uint64_t {
  kNetworkSalt = 1,
  kClientSalt = 2,
  kNoiseSalt = 3,
  kMeasureSalt = 4,
  kAgentSalt = 1000,
  kBornSalt = 1ULL << 41U,
  kDiskSalt = 1ULL << 40U
};

class Kept final : public SpeedMemory {
 public:
  explicit Kept(std::vector<std::byte>& where) : where_(where) {}
  void keep(std::span<const std::byte> state) override {
    where_.assign(state.begin(), state.end());
  }

 private:
  std::vector<std::byte>& where_;
};

/// A life that has been succeeded keeps nothing any more, as in a file or store that is its
/// successor's.
class KeptByOwner final : public PolicyMemory {
 public:
  KeptByOwner(std::vector<std::byte>& where, const Authority& authority)
      : where_(where), authority_(authority), mine_(authority.epoch) {}
  void keep(std::span<const std::byte> memory) override {
    if (authority_.epoch == mine_) where_.assign(memory.begin(), memory.end());
  }
  void drop(const std::string&) override { keep({}); }

 private:
  std::vector<std::byte>& where_;
  const Authority& authority_;
  Epoch mine_;
};

}  // namespace

World::Parts::Parts(const Topology& data_center, const Trace& jobs, const PolicyRegistry& registry,
                    const SimOptions& opts)
    : topology(data_center),
      trace(jobs),
      policies(registry),
      options(opts),
      rng(opts.seed),
      wall_start(wall.now()),
      network(opts.network, rng.fork(kNetworkSalt), opts.limits, queue, clock),
      spy(opts.limits) {}

Status World::Parts::build() {
  // Where nothing is ever lost no node has to ask whether the other side is alive.
  const bool nothing_is_lost =
      options.network.is_ideal() || (options.network.is_lossless() && !restarts);
  if (nothing_is_lost && !options.as_in_flock) {
    options.timers.heartbeat = options.timers.digest = options.timers.orphan = Duration::max();
    // Nor is a policy measured by how many jobs a home takes: those above would knock again every
    // few seconds until there is room, and get in by chance and not in their order.
    const std::size_t all = std::min<std::size_t>(trace.jobs.size(), UINT32_MAX);
    options.limits.jobs_waiting =
        std::max(options.limits.jobs_waiting, static_cast<std::uint32_t>(all));
  }
  auto policy = policies.make(options.policy);
  if (!policy) return policy.error();
  facts = policy.value()->facts();
  policy_name = options.policy;
  if (Status made = make_models(); !made.ok()) return made;
  options.limits.jobs_per_gpu = jobs_per_gpu(facts, physics->varies());
  if (learns() || (facts.reads_pace && physics->varies())) options.timers.report = options.observe;
  if (Status planned = plan_nodes(); !planned.ok()) return planned;
  if (options.check)
    checker = std::make_unique<Checker>(agent_configs.front().flock, options.limits.jobs_per_gpu);
  make_hardware();
  if (options.recorder != nullptr) begin_recording();
  add_nodes();
  for (std::size_t e = 0; e < executor_configs.size(); ++e) {
    if (Status started = start_executor(e); !started.ok()) return started;
  }
  for (std::size_t a = 0; a < agent_configs.size(); ++a) {
    if (Status started = start_agent(a); !started.ok()) return started;
  }
  plan_jobs();
  return done();
}

void World::Parts::begin_recording() {
  std::vector<IndexRange> agents, executors;
  for (const PeerAgent& peer : agent_configs.front().flock)
    agents.push_back(peer.partition.servers);
  for (const ExecutorConfig& config : executor_configs) executors.push_back(config.servers);
  options.recorder->begins(topology, std::move(agents), std::move(executors));
  hardware->set_recorder(options.recorder);
}

void World::Parts::make_hardware() {
  std::vector<JobTruth> truths;
  truths.reserve(trace.jobs.size());
  for (const TraceJob& job : trace.jobs) {
    JobTruth truth;
    truth.id = job.spec.id;
    truth.duration = job.spec.duration;
    truth.gpus = job.spec.gpus();
    truths.push_back(std::move(truth));
  }
  hardware = std::make_unique<Hardware>(topology, *physics, queue, clock,
                                        static_cast<std::uint32_t>(executor_configs.size()),
                                        std::move(truths), options.limits.jobs_per_gpu);
  oracle = std::make_unique<SimOracle>(trace, *physics, *hardware, clock);
  hardware->set_noise(options.measure_noise, rng.fork(kMeasureSalt).next());
  if (checker != nullptr) {
    hardware->on_end([this](const SimProcess& process, std::int32_t code, bool by_force) {
      checker->process_ended(process.attempt, process.gpus.size(), code, by_force);
    });
  }
}

/// Agents, executors, clients: their places, with nothing that runs there yet.
void World::Parts::add_nodes() {
  network.set_places([this](NodeId id, std::vector<Place>& there) {
    const std::size_t at = index_of(id);
    if (at < nodes.size()) there.push_back(nodes[at]->endpoint.place());
    for (const auto& old : deposed) {
      if (old->running != nullptr && old->id == id) there.push_back(old->endpoint.place());
    }
  });
  authorities.resize(agent_configs.size());
  learned.resize(agent_configs.size());
  remembered.resize(agent_configs.size());
  for (const AgentConfig& config : agent_configs) add_node(agent_node(config.me));
  for (std::uint32_t e = 0; e < executor_configs.size(); ++e) {
    add_node(executor_node(e));
    hardware->set_clock(e, nodes.back()->clock);
    launchers.push_back(std::make_unique<SimLauncher>(e, *hardware));
  }
  for (std::uint32_t c = 0; c < options.clients; ++c) add_node(client_node(c));
}

void World::Parts::add_node(NodeId id) {
  nodes.push_back(std::make_unique<SimNode>(id, network));
  WatchedJournal::Observer observer;
  if (checker != nullptr) {
    observer = [this, id, index = nodes.size() - 1](std::span<const Record> records) {
      wrote.insert(index);
      checker->wrote(clock.now(), id, records);
    };
  }
  nodes.back()->journal = std::make_unique<WatchedJournal>(
      restarts ? MemoryJournal::Keep::bytes : MemoryJournal::Keep::counts, std::move(observer),
      rng.fork(kDiskSalt + id.value));
  if (checker != nullptr && restarts) {
    nodes.back()->journal->on_compact([this, id](std::span<const Record> records) {
      checker->compacted(clock.now(), id, records);
    });
  }
  watch_disk(*nodes.back());
}

std::unique_ptr<Physics> World::Parts::make_physics() const {
  if (options.physics == PhysicsKind::trace) return make_trace_physics();
  if (options.physics == PhysicsKind::measured) return make_measured_physics(topology);
  if (options.physics == PhysicsKind::dl2) return make_dl2_physics(topology);
  const FullPhysicsOptions full{options.straggler_sigma, options.contention, options.goodput};
  if (options.links == NetworkKind::even) return make_full_physics(topology, full);
  return make_flow_physics(
      topology, full, options.links == NetworkKind::phases ? LinkDemand::mean : LinkDemand::peak);
}

/// Of the data centre as it is now.
Status World::Parts::make_models() {
  physics = make_physics();
  if (physics->varies()) {
    auto made = make_speed(options.speed, topology, physics.get());
    if (!made) return made.error();
    speed = std::move(made).value();
  } else {
    speed = make_flat_speed();
  }
  return done();
}

/// Which agent owns what and which executor serves which servers.
Status World::Parts::plan_nodes() {
  auto cut = partition(topology, options.agents);
  if (!cut) return cut.error();
  if (options.servers_per_executor == 0) {
    return {Errc::invalid, "servers_per_executor is 0; an executor serves at least one server"};
  }
  const auto protocol_of = [this](NodeId id) {
    const auto other = options.protocols.find(id);
    return other == options.protocols.end() ? kNewestProtocol : other->second;
  };
  const std::uint64_t fingerprint = fingerprint_of(topology);
  std::vector<PeerAgent> flock;
  for (const Partition& p : cut.value()) flock.push_back({AgentId{p.id.value}, p});
  for (const PeerAgent& peer : flock) {
    AgentConfig agent;
    agent.me = peer.agent;
    agent.flock = flock;
    agent.limits = options.limits;
    agent.timers = options.timers;
    agent.flood_most = options.flood_most;
    agent.protocol = protocol_of(agent_node(agent.me));
    agent.calendar = kRightCalendar;  // the world's clock goes on over all lives
    agent.topology = fingerprint;
    const IndexRange all = peer.partition.servers;
    for (std::uint32_t first = all.first; first < all.last; first += options.servers_per_executor) {
      ExecutorConfig executor;
      executor.me = executor_node(static_cast<std::uint32_t>(executor_configs.size()));
      executor.partition = peer.partition.id;
      executor.owner = peer.agent;
      executor.servers = {first, std::min(all.last, first + options.servers_per_executor)};
      executor.limits = options.limits;
      executor.timers = options.timers;
      executor.protocol = protocol_of(executor.me);
      executor.calendar = Duration{0};
      executor.topology = fingerprint;
      agent.executors.push_back({executor.me, executor.servers});
      executor_configs.push_back(std::move(executor));
    }
    agent_configs.push_back(std::move(agent));
  }
  return done();
}

Client& World::Parts::start_client(std::uint32_t place) {
  SimNode& node = *nodes[client_index(place)];
  ClientConfig config;
  config.me = node.id;
  config.timers = options.timers;
  for (const AgentConfig& agent : agent_configs) config.agents.push_back(agent.me);
  const Incarnation life{++client_lives[place].value};
  Rng own = rng.fork(kClientSalt);
  if (place > 0 || life.value > 1) own = own.fork(place).fork(life.value);
  auto client = std::make_unique<ClientNode>(Client(std::move(config), own), life, options.limits,
                                             node.endpoint);
  Client& core = client->core();
  node.running = std::move(client);
  if (checker != nullptr) checker->client_began(node.id);
  return core;
}

/// The clients get every job with the duration that its user is said to know.
void World::Parts::plan_jobs() {
  users = std::make_unique<Users>(options.clients, restarts);
  client_lives.resize(options.clients);
  for (std::uint32_t c = 0; c < options.clients; ++c) users->born(c, start_client(c));
  Rng noise = rng.fork(kNoiseSalt);
  for (std::size_t row = 0; row < trace.jobs.size(); ++row) {
    const TraceJob& job = trace.jobs[row];
    JobSpec spec = job.spec;
    if (options.durations.kind == DurationKnowledge::none) {
      spec.duration = Duration::zero();
    } else if (options.durations.kind == DurationKnowledge::noisy) {
      const double factor = std::exp(options.durations.sigma * noise.normal());
      spec.duration = std::max(Duration(1), from_seconds(seconds(spec.duration) * factor));
    }
    const std::size_t agents = agent_configs.size();
    const auto home = static_cast<std::uint32_t>(row % agents);
    const auto place = static_cast<std::uint32_t>(row / agents % options.clients);
    users->wants(place, Instant(job.submit), std::move(spec), AgentId{home});
  }
  for (std::uint32_t c = 0; c < options.clients; ++c) reschedule(client_index(c));
}

/// Each life of an agent that learns has a model of its own, which begins with what is on disk.
Status World::Parts::give_speed(std::size_t agent) {
  if (!learns()) return done();
  auto made = make_speed(options.speed, topology, physics.get());
  if (!made) return made.error();
  nodes[agent]->speed = std::move(made).value();
  nodes[agent]->memory = std::make_unique<Kept>(learned[agent]);
  if (!nodes[agent]->speed->restore(learned[agent]).ok()) ++left_behind;
  return done();
}

/// What was learned before is taken up by each life of the agent, wherever it runs.
void World::Parts::give_memory(std::size_t agent, AgentNode& node) {
  SimNode& here = *nodes[agent];
  here.policy_memory.reset();
  if (restarts)  // else no node comes back to read it
    here.policy_memory = std::make_unique<KeptByOwner>(remembered[agent], authorities[agent]);
  const Instant now = here.clock.at(clock.now());
  if (!node.remember(options.policy, here.policy_memory.get(), remembered[agent], now).ok())
    ++left_behind;
}

/// The state of agents is where a successor has it, too, so a word of others ends none but one that
/// runs on a copy of its own.
NodeOptions World::Parts::node_options(const SimNode& node, Incarnation life) {
  NodeOptions its;
  outlived.erase(node.id);
  if (!options.known_lives) return its;
  const bool old = node.id.value <= agent_configs.size() && newer.contains(index_of(node.id));
  its.born = rng.fork(kBornSalt).fork(node.id.value).fork(life.value).fork(old ? 1 : 0).next() | 1U;
  its.sole = old || executor_of(node).has_value();
  if (old) old_lives.insert(its.born);
  return its;
}

Status World::Parts::begin_with_queues(std::size_t agent, std::vector<Record>& recovered) {
  if (!options.queues || agent_configs[agent].incarnation != AgentConfig{}.incarnation)
    return done();
  recovered.emplace_back(QueuesSet{*options.queues});
  return nodes[agent]->journal->append({&recovered.back(), 1});
}

Status World::Parts::start_agent(std::size_t agent) {
  auto policy = policies.make(options.policy);
  if (!policy) return policy.error();
  SimNode& node = *nodes[agent];
  auto recovered = node.journal->recover();
  if (!recovered) return recovered.error();
  node.journal->start();
  if (Status said = translate(agent, recovered.value()); !said.ok()) return said;
  if (Status set = begin_with_queues(agent, recovered.value()); !set.ok()) return set;
  const AgentConfig& config = agent_configs[agent];
  const Rng agent_rng = rng.fork(kAgentSalt + agent).fork(config.incarnation.value);
  NodeOptions its = node_options(node, config.incarnation);
  // Of decisions, for figures. Where rules are checked nothing is left to the machine's clock.
  if (!options.check) its.clock = &wall;
  node.endpoint.clear();
  std::unique_ptr<Policy> chosen = std::move(policy).value();
  if (chosen->facts().lengths == LengthSource::truth) {
    if (options.agents > 1) {
      return {Errc::invalid, options.policy + " is an upper bound for one agent, not for " +
                                 std::to_string(options.agents)};
    }
    dynamic_cast<Foresight&>(*chosen).foresee(*oracle);
  }
  if (options.wrap_policy) {
    chosen = options.wrap_policy(config.me, std::move(chosen), [&node](Duration stall) {
      node.endpoint.hold();
      node.stall += stall;
    });
  }
  if (options.recorder != nullptr)
    chosen = std::make_unique<ToldPolicy>(std::move(chosen), *options.recorder);
  if (Status given = give_speed(agent); !given.ok()) return given;
  auto made = std::make_unique<AgentNode>(Agent(config, topology, node.speed ? *node.speed : *speed,
                                                std::move(chosen), agent_rng, recovered.value()),
                                          node.endpoint, *node.journal, its);
  if (node.speed) made->teach(*node.speed, *node.memory);
  give_memory(agent, *made);
  if (options.known_lives || !earlier.empty()) made->recall(recovered.value());
  node.running = std::move(made);
  record_life(agent);
  reschedule(agent);
  return done();
}

Status World::Parts::start_executor(std::size_t executor) {
  const std::size_t index = executor_index(executor);
  SimNode& node = *nodes[index];
  auto recovered = node.journal->recover();
  if (!recovered) return recovered.error();
  node.endpoint.clear();
  node.journal->start();
  const bool is_misled = misled.contains(static_cast<std::uint32_t>(executor));
  if (Status said = is_misled ? done() : translate(index, recovered.value()); !said.ok())
    return said;
  const Topology& believed = is_misled ? *other_topology : topology;
  ExecutorConfig config = executor_configs[executor];
  if (is_misled) config.topology = fingerprint_of(believed);
  if (Status fits = fits_journal(config, believed, recovered.value()); !fits.ok()) return fits;
  node.running = std::make_unique<ExecutorNode>(Executor(config, believed, recovered.value()),
                                                node.endpoint, *node.journal, *launchers[executor],
                                                node_options(node, config.incarnation));
  if (options.known_lives || !earlier.empty()) node.running->recall(recovered.value());
  record_life(index);
  queue.push(clock.now(), EventKind::exit_notice, static_cast<std::uint32_t>(executor));
  reschedule(index);
  return done();
}

}  // namespace starling
