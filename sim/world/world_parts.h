// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/world/local_clock.h"
#include "sim/world/oracle.h"
#include "sim/world/users.h"
#include "sim/world/world.h"

namespace starling {

/// Of places; below are those of nodes that have never moved.
constexpr std::uint32_t kFirstSpare = 0x0400'0000;

/// What a right calendar says when the world begins: some fifty years, so that a wrong one can be
/// that much less.
constexpr Duration kRightCalendar = std::chrono::hours(24 * 365 * 50);

/// Reads the machine's clock, for how long decisions took: a figure of the report that nothing
/// depends on.
class WallClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override {
    return Instant(std::chrono::steady_clock::now().time_since_epoch());
  }
};

/// A node's place in the world: what stays when the node is down, and when it wants to be ticked.
struct SimNode {
  SimNode(NodeId node_id, Network& network) : id(node_id), endpoint(node_id, network) {}

  NodeId id;
  SimEndpoint endpoint;
  std::unique_ptr<WatchedJournal> journal;
  std::unique_ptr<SpeedModel> speed;  ///< of an agent's life that learns; else the world's is asked
  std::unique_ptr<SpeedMemory> memory;          ///< of the same
  std::unique_ptr<PolicyMemory> policy_memory;  ///< of an agent's life
  std::unique_ptr<Node> running;                ///< null while it is down
  Instant tick_at = kNever;                     ///< of the one tick event that counts
  Instant last_tick{};
  std::uint32_t ticks_now = 0;  ///< at last_tick
  LocalClock clock;             ///< what the node takes for time; goes on when it is down
  Instant paused_until{};       ///< runs no cycle before
  Duration stall{0};            ///< how long the present cycle takes beyond its instant
  std::uint64_t told = 0;       ///< frames sent before the present cycle
  std::size_t reads = 0;        ///< frames at a time, each `reads_every`
  Duration reads_every{0};      ///< zero: everything at once
};

/// Which agent may write as a partition's owner: a compare-and-set on the epoch.
struct Authority {
  Epoch epoch{1};
};

/// What counters of earlier lives and of all agents add up to.
struct AgentTotals {
  std::uint64_t preemptions = 0, resizes = 0, forwards = 0, cross_partition_gangs = 0,
                decisions = 0;
  double weighted_p50_us = 0, p99_us = 0;
  void add(const AgentStatus& status);
};

struct World::Parts {
  Parts(const Topology& data_center, const Trace& jobs, const PolicyRegistry& registry,
        const SimOptions& opts);

  Topology topology;  ///< the present one
  const Trace& trace;
  const PolicyRegistry& policies;
  SimOptions options;
  Rng rng;
  WallClock wall;
  Instant wall_start;
  SimClock clock;
  EventQueue queue;
  Network network;
  Keys keys;
  std::uint64_t unheard = 0;  ///< frames
  std::unique_ptr<Physics> physics;
  std::vector<std::unique_ptr<Physics>> past_physics;  ///< that may still be referred to
  std::unique_ptr<SpeedModel> speed;
  std::vector<std::vector<std::byte>> learned;     ///< by speed models; on disk, by agent
  std::vector<std::vector<std::byte>> remembered;  ///< by policies; the same
  std::uint64_t left_behind = 0;  ///< memories of either that could not be taken up
  std::unique_ptr<Hardware> hardware;
  std::unique_ptr<SimOracle> oracle;  ///< for policies that are upper bounds
  std::unique_ptr<Checker> checker;   ///< null unless options.check
  std::uint64_t checked = 0;          ///< changes of the hardware that the checker has looked at
  /// What the checker last saw of each agent, and what has happened since.
  struct Sight {
    std::uint64_t ledger = 0;  ///< ledger_signature()
    std::uint64_t moves = 0;   ///< ledger_moves()
    std::uint32_t still = 0;   ///< cycles since the signature was taken
    Incarnation life;          ///< zero: it was down
  };
  std::vector<Sight> sights;     ///< by agent
  std::vector<std::size_t> ran;  ///< nodes that have run a cycle in the present event
  std::set<std::size_t> wrote;   ///< nodes that have written in it
  Codec spy;                     ///< for the checker
  PolicyFacts facts;
  std::string policy_name;
  std::vector<AgentConfig> agent_configs;  ///< of the next life
  std::uint64_t drain_words = 0;           // versions of what operators have said so far
  std::vector<ExecutorConfig> executor_configs;
  std::vector<std::unique_ptr<SimLauncher>> launchers;
  std::vector<std::unique_ptr<SimNode>> nodes;  ///< agents, executors, clients
  std::uint32_t places = 0;                     ///< that hosts have come to
  std::vector<std::unique_ptr<SimNode>>
      deposed;                            ///< agents that do not know it yet; behind `nodes`
  std::vector<Incarnation> client_lives;  ///< the newest of each place
  std::unique_ptr<Users> users;
  bool restarts = true;                ///< nodes may live again, so journals are kept
  std::vector<Authority> authorities;  ///< by partition
  std::function<void(World&, NodeId)> on_stopped;
  std::vector<NodeId> stopped;  ///< of the present event, because their disks failed
  /// The flock as it was before its servers changed: journals say in whose numbers they speak.
  struct Generation {
    Topology topology;
    std::vector<AgentConfig> agents;
    std::vector<ExecutorConfig> executors;
    [[nodiscard]] std::uint64_t fingerprint() const { return agents.front().topology; }
  };
  std::vector<Generation> earlier;  ///< oldest first
  /// An agent that runs on an old copy: what it comes back to.
  struct Newer {
    std::unique_ptr<WatchedJournal> journal;
    Incarnation life;
  };
  std::map<std::size_t, Newer> newer;               ///< by node
  std::set<std::uint64_t> old_lives;                ///< born of such lives
  std::set<NodeId> outlived;                        ///< since their last start
  std::map<std::uint32_t, Incarnation> lives_lost;  ///< of executors with an older state
  std::optional<Error> failed;                      ///< in a script
  const Topology* other_topology = nullptr;
  std::set<std::uint32_t> retired;  ///< executors that never come back
  std::set<std::uint32_t> misled;   ///< executors that start with other_topology
  std::vector<std::function<void(World&)>> scripts;
  std::size_t scripts_left = 0;
  Timeline timeline;
  TraceHash hash;
  AgentTotals past;  ///< of agents' ended lives
  std::uint64_t events = 0, messages = 0;
  std::uint64_t seen_changes = 0;  ///< hardware and client, to see that something moves
  Instant last_change{};
  std::uint64_t hardware_then = 0;  ///< changes of the hardware by then
  bool users_moved = true;          ///< since then, or they may have

  Status build();
  void make_hardware();
  void begin_recording();
  void add_nodes();
  void add_node(NodeId id);
  [[nodiscard]] std::unique_ptr<Physics> make_physics() const;
  Status make_models();
  Status plan_nodes();
  void plan_jobs();
  Status start_agent(std::size_t agent);
  /// At the start of its first life: the queues of options, as an earlier life would leave them.
  Status begin_with_queues(std::size_t agent, std::vector<Record>& recovered);
  Status give_speed(std::size_t agent);
  void give_memory(std::size_t agent, AgentNode& node);
  [[nodiscard]] bool learns() const {
    return physics->varies() && options.speed.kind == SpeedKind::learned && !options.speed.frozen &&
           options.observe > Duration{0};
  }
  Status start_executor(std::size_t executor);
  // Servers that change: world_servers.cpp.
  /// The earlier generation in whose numbers the records are; null: the present one.
  [[nodiscard]] const Generation* writer_of(std::span<const Record> recovered) const;
  /// The journal of a node in the numbers of `after`; `busy`: it uses what is not there then.
  [[nodiscard]] Result<std::vector<Record>> in_numbers_of(std::size_t index, const Generation& was,
                                                          std::span<const Record> recovered,
                                                          const Topology& after,
                                                          std::uint64_t fingerprint) const;
  /// At the start of a life: what its journal gave back, and the journal, in present numbers.
  Status translate(std::size_t index, std::vector<Record>& recovered);
  Status may_change(const Topology& after, std::uint64_t fingerprint);
  void end_all_daemons();
  void check_restored(NodeId id, std::span<const Record> records);
  void take_ranges(std::span<const IndexRange> executors, std::uint64_t fingerprint);
  /// A client that lives at this place from now on, and knows nothing yet.
  Client& start_client(std::uint32_t place);
  void crash(std::size_t index);
  /// Of one that starts from its own state; one that takes a partition over is proven by the epoch.
  [[nodiscard]] Duration roll_call() const {
    return options.known_lives ? 4 * options.timers.heartbeat : Duration{0};
  }
  /// The old copy of the agent is gone, and the newer state in its place again.
  void put_back(std::size_t index);
  [[nodiscard]] NodeOptions node_options(const SimNode& node, Incarnation life);
  /// None: an agent's or the client's.
  [[nodiscard]] std::optional<std::uint32_t> executor_of(const SimNode& node) const;
  void pause(SimNode& node, Duration lasts);
  Status resume(SimNode& node);
  /// Runs `what` in lasts from now, before anything else of that instant.
  void in(Duration lasts, std::function<void(World&)> what);
  [[nodiscard]] std::size_t index_of(const SimNode& node) const;
  void watch_disk(SimNode& node);
  void read_some(SimNode& node);
  [[nodiscard]] bool paused(const SimNode& node) const noexcept {
    return node.paused_until > clock.now();
  }
  [[nodiscard]] bool silent(const SimNode& node) const {
    return !node.running->may_speak(node.clock.at(clock.now()));
  }
  /// A place that no client has been at.
  [[nodiscard]] Place new_place() { return Place{kFirstSpare + places++}; }
  /// Error: what the journal gives back is not what memory holds.
  Status compare_with_journal(std::size_t index);
  /// All that a frame may change, in one node and around it.
  struct Footprint {
    std::uint64_t core = 0, ledger = 0, records = 0, frames = 0, hardware = 0;
    Instant deadline;
    friend bool operator==(const Footprint&, const Footprint&) = default;
  };
  [[nodiscard]] Footprint footprint_of(const SimNode& node) const;
  Status refused_well(std::size_t index, const Footprint& before, std::uint64_t refused) const;
  void depose(std::size_t agent, Duration lasts);
  [[nodiscard]] SimNode& node_at(std::size_t index) {
    return index < nodes.size() ? *nodes[index] : *deposed[index - nodes.size()];
  }
  /// The cycle's error is the world's, but for deposed owners: they just stop.
  [[nodiscard]] Status took(std::size_t index, const Result<Node::Cycle>& cycle);
  void schedule(SimNode& node, Instant when);
  void reschedule(std::size_t index);
  [[nodiscard]] std::size_t index_of(NodeId id) const;
  [[nodiscard]] std::size_t executor_index(std::size_t executor) const {
    return agent_configs.size() + executor;
  }
  [[nodiscard]] std::size_t client_index(std::size_t place) const {
    return executor_index(executor_configs.size()) + place;
  }
  [[nodiscard]] bool is_client(std::size_t index) const {
    return index >= client_index(0) && index < nodes.size();
  }
  /// Whether a job that was accepted has ended, by the journals; or was not accepted.
  [[nodiscard]] bool over_by_journals(JobId job) const {
    return checker == nullptr || !checker->accepted(job) || checker->ended(job);
  }
  [[nodiscard]] const Agent* agent_core(std::size_t agent) const;

  Status deliver(std::uint32_t slot);
  void record(const Network::InFlight& frame);
  /// That a daemon is up, or down.
  void record_life(std::size_t index);
  [[nodiscard]] bool heard(NodeId from, NodeId to);
  Status wake(std::size_t index);
  Status tick(std::size_t index);
  Status act(World& world, const SimEvent& event);
  void note_change();
  [[nodiscard]] bool stalled() const;
  Status check();
  void check_those_that_ran();
  [[nodiscard]] bool ledgers_moved();
  [[nodiscard]] WorldView view() const;
  [[nodiscard]] AgentTotals totals() const;
};

}  // namespace starling
