// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/executor/executor_state.h"
#include "interference/models.h"
#include "policies/foresight.h"
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
  // Where nothing is ever lost nobody has to ask whether the other side is alive.
  if (options.network.is_ideal() || (options.network.is_lossless() && !restarts)) {
    options.timers.heartbeat = options.timers.digest = options.timers.orphan = Duration::max();
    // Nor is a policy measured by how many jobs a home takes: those above would knock again every
    // few seconds until there is room, and get in by luck and not in their order.
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
  if (learns()) options.timers.report = options.observe;
  if (Status planned = plan_seats(); !planned.ok()) return planned;
  if (options.check)
    checker = std::make_unique<Checker>(agent_configs.front().flock, options.limits.jobs_per_gpu);

  std::vector<JobTruth> truths;
  truths.reserve(trace.jobs.size());
  for (const TraceJob& job : trace.jobs) {
    JobTruth truth;
    truth.id = job.spec.id;
    truth.duration = job.spec.duration;
    truth.gpus = job.spec.gpus();
    truths.push_back(std::move(truth));
  }
  const auto executors = static_cast<std::uint32_t>(executor_configs.size());
  hardware = std::make_unique<Hardware>(topology, *physics, queue, clock, executors,
                                        std::move(truths), options.limits.jobs_per_gpu);
  oracle = std::make_unique<SimOracle>(trace, *physics, *hardware, clock);
  hardware->set_noise(options.measure_noise, rng.fork(kMeasureSalt).next());

  if (checker != nullptr) {
    hardware->on_end([this](const SimProcess& process, std::int32_t code, bool by_force) {
      checker->process_ended(process.attempt, process.gpus.size(), code, by_force);
    });
  }

  const auto add_seat = [this](NodeId id) {
    seats.push_back(std::make_unique<Seat>(id, network));
    WatchedJournal::Observer observer;
    if (checker != nullptr) {
      observer = [this, id, seat = seats.size() - 1](std::span<const Record> records) {
        wrote.insert(seat);
        checker->wrote(clock.now(), id, records);
      };
    }
    seats.back()->journal = std::make_unique<WatchedJournal>(
        restarts ? MemoryJournal::Keep::bytes : MemoryJournal::Keep::counts, std::move(observer),
        rng.fork(kDiskSalt + id.value));
    if (checker != nullptr && restarts) {
      seats.back()->journal->on_compact([this, id](std::span<const Record> records) {
        checker->compacted(clock.now(), id, records);
      });
    }
    watch_disk(*seats.back());
  };
  network.set_places([this](NodeId node, std::vector<Place>& there) {
    const std::size_t at = seat_of(node);
    if (at < seats.size()) there.push_back(seats[at]->endpoint.place());
    for (const auto& old : deposed) {
      if (old->node != nullptr && old->id == node) there.push_back(old->endpoint.place());
    }
  });
  authorities.resize(agent_configs.size());
  learned.resize(agent_configs.size());
  for (const AgentConfig& config : agent_configs) add_seat(agent_node(config.me));
  for (std::uint32_t e = 0; e < executors; ++e) {
    add_seat(executor_node(e));
    hardware->set_clock(e, seats.back()->clock);
    launchers.push_back(std::make_unique<SimLauncher>(e, *hardware));
  }
  for (std::uint32_t c = 0; c < options.clients; ++c) add_seat(client_node(c));
  for (std::size_t e = 0; e < executors; ++e) {
    if (Status started = start_executor(e); !started.ok()) return started;
  }
  for (std::size_t a = 0; a < agent_configs.size(); ++a) {
    if (Status started = start_agent(a); !started.ok()) return started;
  }
  plan_jobs();
  return done();
}

/// Of the data centre as it is now.
Status World::Parts::make_models() {
  physics = options.physics == PhysicsKind::full
                ? make_full_physics(topology,
                                    FullPhysicsOptions{options.straggler_sigma, options.crowding})
                : make_trace_physics();
  if (physics->varies()) {
    auto made = make_speed(options.speed, topology, physics.get());
    if (!made) return made.error();
    speed = std::move(made).value();
  } else {
    speed = make_flat_speed();
  }
  return done();
}

/// Who owns what and who serves which servers.
Status World::Parts::plan_seats() {
  auto cut = partition(topology, options.agents);
  if (!cut) return cut.error();
  if (options.servers_per_executor == 0) {
    return {Errc::invalid, "servers_per_executor is 0; an executor serves at least one server"};
  }
  const auto protocol_of = [this](NodeId node) {
    const auto other = options.protocols.find(node);
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
  Seat& seat = *seats[client_seat(place)];
  ClientConfig config;
  config.me = seat.id;
  config.timers = options.timers;
  for (const AgentConfig& agent : agent_configs) config.agents.push_back(agent.me);
  const Incarnation life{++client_lives[place].value};
  Rng own = rng.fork(kClientSalt);
  if (place > 0 || life.value > 1) own = own.fork(place).fork(life.value);
  auto node = std::make_unique<ClientNode>(Client(std::move(config), own), life, options.limits,
                                           seat.endpoint);
  Client& core = node->core();
  seat.node = std::move(node);
  if (checker != nullptr) checker->client_began(seat.id);
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
  for (std::uint32_t c = 0; c < options.clients; ++c) reschedule(client_seat(c));
}

/// Each life of an agent that learns has a model of its own, which begins with what is on disk.
Status World::Parts::give_speed(std::size_t agent) {
  if (!learns()) return done();
  auto made = make_speed(options.speed, topology, physics.get());
  if (!made) return made.error();
  seats[agent]->speed = std::move(made).value();
  seats[agent]->memory = std::make_unique<Kept>(learned[agent]);
  return seats[agent]->speed->restore(learned[agent]);
}

/// The state of agents is where a successor has it, too, so a word of others ends none but who runs
/// on a copy of its own.
NodeOptions World::Parts::node_options(const Seat& seat, Incarnation life) {
  NodeOptions node;
  outlived.erase(seat.id);
  if (!options.known_lives) return node;
  const bool old = seat.id.value <= agent_configs.size() && newer.contains(seat_of(seat.id));
  node.born =
      rng.fork(kBornSalt).fork(seat.id.value).fork(life.value).fork(old ? 1 : 0).next() | 1U;
  node.sole = old || executor_of(seat).has_value();
  if (old) old_lives.insert(node.born);
  return node;
}

Status World::Parts::start_agent(std::size_t agent) {
  auto policy = policies.make(options.policy);
  if (!policy) return policy.error();
  Seat& seat = *seats[agent];
  auto recovered = seat.journal->recover();
  if (!recovered) return recovered.error();
  seat.journal->start();
  if (Status said = translate(agent, recovered.value()); !said.ok()) return said;
  const AgentConfig& config = agent_configs[agent];
  const Rng agent_rng = rng.fork(kAgentSalt + agent).fork(config.incarnation.value);
  NodeOptions node = node_options(seat, config.incarnation);
  // Of decisions, for figures. Where rules are checked nothing is left to the machine's clock.
  if (!options.check) node.clock = &wall;
  seat.endpoint.clear();
  std::unique_ptr<Policy> brain = std::move(policy).value();
  if (auto* seer = dynamic_cast<Foresight*>(brain.get())) {
    if (options.agents > 1) {
      return {Errc::invalid, options.policy + " is an upper bound for one agent, not for " +
                                 std::to_string(options.agents)};
    }
    seer->foresee(*oracle);
  }
  if (options.wrap_policy) {
    brain = options.wrap_policy(config.me, std::move(brain), [&seat](Duration stall) {
      seat.endpoint.hold();
      seat.stall += stall;
    });
  }
  if (Status given = give_speed(agent); !given.ok()) return given;
  auto made = std::make_unique<AgentNode>(Agent(config, topology, seat.speed ? *seat.speed : *speed,
                                                std::move(brain), agent_rng, recovered.value()),
                                          seat.endpoint, *seat.journal, node);
  if (seat.speed) made->teach(*seat.speed, *seat.memory);
  if (options.known_lives || !earlier.empty()) made->recall(recovered.value());
  seat.node = std::move(made);
  reschedule(agent);
  return done();
}

Status World::Parts::start_executor(std::size_t executor) {
  const std::size_t index = executor_seat(executor);
  Seat& seat = *seats[index];
  auto recovered = seat.journal->recover();
  if (!recovered) return recovered.error();
  seat.endpoint.clear();
  seat.journal->start();
  const bool is_misled = misled.contains(static_cast<std::uint32_t>(executor));
  if (Status said = is_misled ? done() : translate(index, recovered.value()); !said.ok())
    return said;
  const Topology& believed = is_misled ? *other_topology : topology;
  ExecutorConfig config = executor_configs[executor];
  if (is_misled) config.topology = fingerprint_of(believed);
  if (Status fits = fits_journal(config, believed, recovered.value()); !fits.ok()) return fits;
  seat.node = std::make_unique<ExecutorNode>(Executor(config, believed, recovered.value()),
                                             seat.endpoint, *seat.journal, *launchers[executor],
                                             node_options(seat, config.incarnation));
  if (options.known_lives || !earlier.empty()) seat.node->recall(recovered.value());
  queue.push(clock.now(), EventKind::exit_notice, static_cast<std::uint32_t>(executor));
  reschedule(index);
  return done();
}

}  // namespace starling
