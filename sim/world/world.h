// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "bus/wire/node.h"
#include "interference/speed.h"
#include "policies/registry.h"
#include "sim/check/checker.h"
#include "sim/run/run_result.h"
#include "sim/run/sim_options.h"
#include "sim/world/hardware.h"
#include "sim/world/journal.h"
#include "sim/world/keys.h"
#include "sim/world/network.h"
#include "sim/world/queue.h"
#include "sim/world/timeline.h"
#include "sim/world/users.h"
#include "workload/job.h"

namespace starling {

/// The whole system in one thread of virtual time: real agents, executors and clients behind the
/// real driver loop and codec, on a simulated network, simulated disks and simulated GPUs.
/// Everything that happens is an event of one queue, so equal inputs give equal runs.
///
/// The clients submit the trace, row by row at its submit times, to the agents in turn. run() ends
/// when every job has ended, or when nothing has moved for `kStalled` of virtual time although
/// nothing is to come.
class World {
 public:
  static constexpr Duration kStalled = std::chrono::hours(24);

  /// `topology`, `trace` and `policies` outlive the world. Without `restarts` no node may be
  /// started again, and journals keep nothing. `invalid`: bad policy, too many agents.
  [[nodiscard]] static Result<std::unique_ptr<World>> make(const Topology& topology,
                                                           const Trace& trace,
                                                           const PolicyRegistry& policies,
                                                           const SimOptions& options,
                                                           bool restarts = true);
  ~World();

  /// To the end. A checker's violation and a node that stopped by itself are errors.
  [[nodiscard]] Status run();
  /// Takes the next event; false when there is none or everything is over.
  [[nodiscard]] Result<bool> step();
  /// Takes the next event, although everything may be over, unless it is later than `until`; false
  /// then. For what happens around and after the jobs.
  [[nodiscard]] Result<bool> step_until(Instant until);
  [[nodiscard]] RunResult result() const;

  /// Calls `what` at `when`, before anything else of that instant.
  void at(Instant when, std::function<void(World&)> what);

  /// The agent's memory is gone, its journal stays; frames to it are lost until it is back.
  void crash_agent(AgentId agent);
  /// Starts its next life from its journal. Fails, and leaves it down, where that is damaged.
  Status restart_agent(AgentId agent);
  /// What the agent's policy, and its speed model, have had kept: the next life begins with it.
  /// Whatever is written there costs quality alone.
  [[nodiscard]] std::vector<std::byte>& policy_memory(AgentId agent);
  [[nodiscard]] std::vector<std::byte>& speed_memory(AgentId agent);
  /// Of either, that lives have left behind because they could not be read.
  [[nodiscard]] std::uint64_t memories_left_behind() const noexcept;
  /// Another host takes the agent's partition over at the next epoch, from its journal. If the old
  /// owner is alive it does not know, hears and speaks for `lasts` more, and can no longer write.
  Status take_over(AgentId agent, Duration lasts);
  /// The same for a candidate that believes in epoch `expect`; refused if that is not the current
  /// one. A refused candidate does nothing.
  [[nodiscard]] bool try_take_over(AgentId agent, Epoch expect, Duration lasts);
  [[nodiscard]] Epoch epoch(AgentId agent) const;  ///< by the authority
  [[nodiscard]] bool any_deposed(AgentId agent) const;
  [[nodiscard]] bool any_deposed_speaks(AgentId agent) const;  ///< whose lease has not ended
  /// Deposed owners reach the authority from now on: each ends a heartbeat from now on its own
  /// clock, when it is refused the next renewal of its lease.
  void refuse_deposed();
  /// The present owner says nothing more in `lasts` from now, on its own clock: its lease ends.
  /// Duration::max(): it was renewed.
  void lapse(AgentId agent, Duration lasts);
  void crash_executor(std::uint32_t executor);
  Status restart_executor(std::uint32_t executor);
  /// The executor's machine loses power: it and all processes there are gone. With `disk` its
  /// journal too; what was on its way to it is lost then.
  void lose_host(std::uint32_t executor, bool disk);
  /// It has lost its machine and its disk, and they are not replaced.
  void retire(std::uint32_t executor);
  [[nodiscard]] bool retired(std::uint32_t executor) const;
  /// The flock's servers are those of `after` from now on, at one instant, as `starling configure
  /// --topology` does it: every daemon ends, deposed owners too, and is down; jobs go on. Each
  /// journal is translated when its node starts. `executors`: by executor the servers that it has
  /// then, side by side and in the order of partitions; one that has none leaves for good. What has
  /// become of the numbers; `busy`, and nothing has happened: a journal has something open on a
  /// server that leaves or changes; `invalid`: a journal cannot be read, or `after` has the servers
  /// in another order.
  Result<Renumbering> change_servers(const Topology& after, std::span<const IndexRange> executors);
  /// The executor's servers; none: it has left.
  [[nodiscard]] IndexRange servers_of(std::uint32_t executor) const;
  // Backups, and what becomes of a node that goes on from one; with SimOptions::known_lives.
  struct Backup {
    std::shared_ptr<const MemoryJournal> journal;
    Incarnation life;
  };
  [[nodiscard]] Backup backup(NodeId id) const;
  /// Whether a node can be started on it: not if it has something open on a server that has left or
  /// changed since.
  [[nodiscard]] Status can_start(NodeId id, const Backup& backup) const;
  /// The peer runs, stands not still, and has heard of what the node wrote after that: it finds the
  /// copy out.
  [[nodiscard]] bool knows_newer(NodeId peer, NodeId of, const Backup& backup) const;
  /// The executor's machine is lost, and comes back with the state of then: it is down.
  void restore_executor(std::uint32_t executor, const Backup& backup);
  /// An operator starts the agent on a copy of its state, and the newer state stays where it is:
  /// the next start is from that. What the old life says and writes is held against no rule, as no
  /// node may hear it.
  Status start_old_copy(AgentId agent, const Backup& backup);
  [[nodiscard]] bool is_old_copy(AgentId agent) const;
  /// It has ended because a peer knows more of it than its journal does.
  [[nodiscard]] bool outlived(NodeId id) const;
  /// An operator goes on from what an executor has, as `starling accept-loss` does: in a life, and
  /// with records, beyond all that any node knows. It is down.
  void accept_loss(std::uint32_t executor);
  /// The agent's state is lost but for `left`, and an operator goes on from that in the same way:
  /// what was open in it ends as agents/accept_loss.h says. It is down. What was promised is
  /// forgotten, rightly: S5, S6, S13, S16 and S25 are not looked at any more.
  void accept_loss(AgentId agent, const Backup& left);

  /// What the agent's next life takes for the time of day is `off` from the right one.
  void set_calendar(AgentId agent, Duration off);

  /// Where it is now. A host that takes a partition over is at a place of its own.
  [[nodiscard]] Place place_of(NodeId id) const;
  /// The node runs no cycle for so long; what arrives meanwhile waits.
  void pause(NodeId id, Duration lasts);
  /// Its machine sleeps: the same, and what runs there stands still. Clocks count the time.
  void suspend(NodeId id, Duration lasts);
  /// Of the node's clock: seconds per second.
  void set_rate(NodeId id, double rate);
  /// Ends every pause.
  void wake_all();
  /// Reads at most `frames` frames each `every`, and keeps at most `room` waiting; zero: at once.
  void read_slowly(NodeId id, std::size_t frames, Duration every, std::size_t room);
  [[nodiscard]] WatchedJournal& disk(NodeId id);
  /// Replaces the node's journal by its core's snapshot, as long-lived daemons do.
  void compact(NodeId id);
  /// Called when a node has ended because its disk failed, or outlived() says why. Without: that is
  /// the world's error.
  void on_stopped(std::function<void(World&, NodeId)> call);
  /// From its next start on the executor reads `topology`; null: the right one. It outlives the
  /// world.
  void mislead(std::uint32_t executor, const Topology* topology);
  [[nodiscard]] bool misled(std::uint32_t executor) const;

  /// What it was told is gone. Frames that are on their way to agents arrive.
  void crash_client(std::uint32_t place);
  /// Another client at the place of a dead one, under its name or, as a session of its own, a new
  /// one. It takes up the sent jobs that `takes_up` says, and submits those never sent.
  void renew_client(std::uint32_t place, bool session, const std::function<bool(JobId)>& takes_up);
  [[nodiscard]] bool client_lives(std::uint32_t place) const;

  /// A job beyond the trace, submitted now by the first client. It runs `alone` long.
  void submit(JobSpec spec, AgentId home, Duration alone);
  /// By the client that follows it. False: none does.
  bool cancel(JobId job);
  /// The client at this place sends it once, and does nothing with the answer. A dead one does not.
  void ask(AgentId agent, Message question, std::uint32_t place = 0);
  /// An agent or executor speaks as that version does from its next life on.
  void set_protocol(NodeId id, std::uint16_t protocol);
  [[nodiscard]] std::uint16_t protocol(NodeId id) const;  ///< of its next life
  /// An operator's word to the owner of the server. It may get lost or be late; the last one
  /// counts.
  void drain(ServerId server, bool drained, bool evict = false);

  /// For the recording of the run: a fault, in words.
  void note(const std::string& what);
  /// The checker leaves this rule alone from now on.
  void excuse(const std::string& rule);

  [[nodiscard]] Instant now() const noexcept;
  [[nodiscard]] const Topology& topology() const noexcept;
  [[nodiscard]] AgentId owner_of(ServerId server) const;
  [[nodiscard]] Network& network() noexcept;
  [[nodiscard]] Hardware& hardware() noexcept;
  /// Of agents, executors and clients; a client's are its place's. Operators are always heard.
  [[nodiscard]] Keys& keys() noexcept;
  [[nodiscard]] std::uint64_t unheard() const noexcept;   ///< frames dropped for a wrong key
  [[nodiscard]] const Agent* agent(AgentId agent) const;  ///< null while it is down
  [[nodiscard]] std::uint32_t agents() const noexcept;
  [[nodiscard]] std::uint32_t executors() const noexcept;
  [[nodiscard]] const Executor* executor(std::uint32_t executor) const;  ///< null while it is down
  [[nodiscard]] const Users& users() const noexcept;
  /// Every client has an answer for each of its jobs, and what was accepted and no client follows
  /// has ended.
  [[nodiscard]] bool all_over() const;
  // By what has become durable, told or not; with options.check.
  [[nodiscard]] bool accepted(JobId job) const;
  [[nodiscard]] std::optional<JobPhase> end_of(JobId job) const;  ///< none: it has not ended
  /// That the agent goes by; version 0: none.
  [[nodiscard]] const QueueTree& queues(AgentId agent) const;
  /// Of agents and executors that are up; all zero of others.
  [[nodiscard]] NodeCounters counters(NodeId id) const;
  [[nodiscard]] std::uint64_t messages() const noexcept;  ///< that have arrived

 private:
  struct Parts;
  explicit World(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace starling
