// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/agent/agent.h"
#include "agents/client.h"
#include "agents/executor/executor.h"
#include "agents/record.h"
#include "bus/wire/codec.h"
#include "bus/wire/endpoint.h"
#include "bus/wire/policy_keeper.h"

namespace starling {

/// What a peer said about a node whose state is an old copy.
struct Outlived {
  NodeId by;
  Incarnation life;           ///< of this node, that the peer knows
  std::uint64_t written = 0;  ///< records of that life's journal
};

struct NodeOptions {
  std::uint32_t batch = 256;  ///< frames taken in before anything is written or sent
  const Clock* clock =
      nullptr;  ///< for run_until() and decision times; without one neither happens
  const Clock* stopwatch =
      nullptr;  ///< for decision times alone, where `clock` does not run at one second per second
  /// Drawn anew for each life. 0: this node does not say it, and tells no earlier life of a peer
  /// what it knows.
  std::uint64_t born = 0;
  /// Its journal is the only one of this node, so a later life or a longer journal that a peer
  /// knows means that the state is an old copy: the node ends.
  bool sole = false;
  /// How far its journal was when this life read it, where something was written since; none: as
  /// far as it is when the node is made.
  std::optional<std::uint64_t> began = {};
};

/// What passed through one node, and what was refused and why.
struct NodeCounters {
  std::uint64_t frames_in = 0;     ///< received, good or bad
  std::uint64_t frames_out = 0;    ///< handed to the endpoint and taken
  std::uint64_t bad_frames = 0;    ///< refused by the codec
  std::uint64_t unauthorised = 0;  ///< a kind that this sender may not say to this node
  /// Of an earlier life of the sender, for an earlier one of this node, or overtaken.
  std::uint64_t stale = 0;
  std::uint64_t old_copies = 0;  ///< of `stale`: answered with what is known of that node
  std::uint64_t dropped = 0;     ///< not taken by the endpoint, or too large to send
  std::uint64_t withheld = 0;    ///< not sent, because the peer's protocol does not know it
  std::uint64_t unsaid = 0;      ///< not sent, because the right to speak ended within the cycle
  std::uint64_t records = 0;     ///< written to the journal
  std::uint64_t appends = 0;     ///< journal writes, each durable on its own
  std::uint64_t ticks = 0;
  friend bool operator==(const NodeCounters&, const NodeCounters&) = default;
};

/// The one loop around a core: take in a batch of frames, step, write once, then send, then run.
/// Simulator and daemons use the same object; only endpoint, journal, launcher and clock differ.
/// One thread.
///
/// A message is said in the oldest protocol that says all of it, at most in the newest that both
/// sides know; what that does not know is withheld. So Hello, Goodbye and what clients say are
/// understood by every node, also by a peer that came back with an older version.
///
/// Guarantee: no message leaves before every record of the same cycle is durable. A journal that
/// refuses ends the node: that cycle sends nothing, and this and every later call returns the
/// error.
///
/// Old state: a frame says which life it is of, how far its journal has come, and how far that was
/// when this life began. A node remembers the first two of its peers, and of agents durably, with
/// whatever it writes next. So it obeys no life that begins with less than an earlier one had, and
/// tells it so; one that is told ends (`sole`) with `fenced`, before it has done anything on the
/// word of others.
class Node {
 public:
  struct Cycle {
    std::uint32_t frames = 0;  ///< taken in
    bool more = false;         ///< the batch was full: call again at the same instant
  };

  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// One whole cycle without waiting: ended processes, waiting frames, Tick, write, send, run.
  [[nodiscard]] Result<Cycle> pump(Instant now);
  /// As pump(), without Tick. For a world that ticks only when everything of an instant has
  /// arrived.
  [[nodiscard]] Result<Cycle> absorb(Instant now);
  /// As pump(), without frames and ended processes.
  [[nodiscard]] Status tick(Instant now);
  /// When pump() or tick() is due at the latest, if no frame comes before.
  [[nodiscard]] virtual Instant next_deadline() const noexcept = 0;

  /// Runs cycles until `deadline`, request_stop() or the instant of may_speak_until(), asleep in
  /// the endpoint in between. True: stopped on request. Needs options.clock.
  [[nodiscard]] Result<bool> run_until(Instant deadline);
  /// For signal handlers: run_until() returns after at most one more cycle.
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }

  /// From `until` on this node runs no cycle: it hears nothing, decides nothing, says nothing, and
  /// what arrives waits. So does one that may have been succeeded: its lease, as far as it knows,
  /// ends then. The next call says how it goes on. A cycle that is under way at `until` is written
  /// to the journal, whose epoch decides; what it would have said is dropped (with options.clock).
  void may_speak_until(Instant until) noexcept { speaks_until_ = until; }
  [[nodiscard]] bool may_speak(Instant now) const noexcept { return now < speaks_until_; }

  [[nodiscard]] NodeId id() const noexcept { return me_; }
  [[nodiscard]] const NodeCounters& counters() const noexcept { return counters_; }
  /// Why a peer last refused to talk to this node; empty: none has.
  [[nodiscard]] const std::string& goodbye() const noexcept { return goodbye_; }

  /// A life of the peer that began from `written` records as life `begins` would be told that it
  /// lacks something.
  [[nodiscard]] bool knows_beyond(NodeId peer, Incarnation begins, std::uint64_t written) const;

  /// That a peer knows more of this node than its journal does; none: no peer has said so.
  [[nodiscard]] const std::optional<Outlived>& outlived() const noexcept { return outlived_; }
  /// What earlier lives knew of the peers' lives. Before the first cycle.
  void recall(std::span<const Record> recovered);

  /// Partition `p` is owned by `owner` from now on: others that speak for it are refused.
  void set_owner(PartitionId p, NodeId owner) { owners_[p] = owner; }

 protected:
  Node(NodeId me, Incarnation incarnation, const Limits& limits, Endpoint& endpoint,
       Journal* journal, NodeOptions options, std::uint16_t protocol = kNewestProtocol);

  virtual void receive(Instant now, Received received) = 0;  ///< steps the core, appends to out_
  virtual void tick_core(Instant now) = 0;
  virtual void collect(Instant) {}  ///< ended processes into the core
  virtual void fill_in() {}       ///< what out_.recall and out_.read name, before anything is sent
  virtual void run_commands() {}  ///< after everything is sent
  virtual void refused() {}       ///< a frame was refused

  /// Replaces the journal by `records` and what is known of the peers' lives.
  [[nodiscard]] Status compact_to(std::vector<Record> records);
  /// One step of the same with `core`'s snapshot; false once it is over.
  template <class Core>
  [[nodiscard]] Result<bool> compact_by_steps(const Core& core) {
    if (!compacting_) {
      const Status begun = journal_->begin_compaction(with_known(core.snapshot()));
      if (!begun.ok()) return begun.error();
    }
    Result<bool> more = journal_->step_compaction();
    compacting_ = more && more.value();
    return more;
  }

  [[nodiscard]] const Clock* clock() const noexcept { return options_.clock; }
  [[nodiscard]] const Clock* stopwatch() const noexcept {
    return options_.stopwatch != nullptr ? options_.stopwatch : options_.clock;
  }

  ExecutorOutput out_;  // reused; `run` stays empty except in executors

 private:
  struct Seen {
    Incarnation incarnation;
    std::uint64_t born = 0, written = 0;  // as its frames say
    std::uint64_t digest = 0;
    std::uint64_t pong = 0;
    std::uint64_t greeting = 0;                ///< Welcome or InventoryRequest: newest sequence
    std::uint16_t protocol = kOldestProtocol;  ///< newest that both speak
    Instant notified = Instant::min();         ///< when an earlier life of it last was told
    bool found = false;                        ///< the endpoint knows where this life is
  };

  void take(Instant now, const Delivery& delivery);
  [[nodiscard]] bool fresh(Instant now, const Delivery& delivery, const Frame& frame);
  /// The frame is of a life that lacks what is known of an earlier one, or was outlived itself.
  [[nodiscard]] static bool old_copy(const FrameHeader& header, const Seen& seen);
  void tell_old_copy(Instant now, NodeId peer, const FrameHeader& header, Seen& seen);
  /// True: it was for this life, and is nothing for the core.
  bool hear_outlived(NodeId from, const Goodbye& goodbye);
  void learn(NodeId peer, const FrameHeader& header, Seen& seen);
  void keep_known();
  [[nodiscard]] bool authorised(NodeId from, const Message& message) const;
  [[nodiscard]] Cycle drain(Instant now, std::uint32_t taken);
  [[nodiscard]] std::vector<Record> with_known(std::vector<Record> records) const;
  [[nodiscard]] std::optional<Delivery> next_frame(Instant deadline);
  /// The right to speak has ended since the cycle began.
  [[nodiscard]] bool silenced() const noexcept;
  void send_all();
  [[nodiscard]] Status flush();
  /// What is spoken with `peer`; the oldest until something was heard of its present life.
  [[nodiscard]] std::uint16_t spoken_with(NodeId peer) const;
  /// The life of `peer` that this node last heard, where the message is for no other.
  [[nodiscard]] Incarnation meant_for(NodeId peer, const Message& message) const;

  NodeId me_;
  Incarnation incarnation_;
  Limits limits_;
  Endpoint& endpoint_;
  Journal* journal_;
  NodeOptions options_;
  Codec codec_;
  std::uint16_t protocol_;
  std::uint64_t began_;  // number of the first record of this life
  std::string goodbye_;
  std::optional<Outlived> outlived_;
  NodeCounters counters_;
  std::uint64_t sequence_ = 0;
  std::unordered_map<NodeId, Seen> seen_;
  std::map<NodeId, PeerKnown> known_;  // peers' lives, as far as they are durable here
  std::uint64_t topology_read_ = 0;    // that the journal was written with, where it says so
  std::set<NodeId> news_;              // agents of which more is known than that
  std::map<PartitionId, NodeId> owners_;
  std::optional<Error> failed_;
  bool compacting_ = false;
  Instant speaks_until_ = kNever;
  std::optional<Delivery> waiting_;  // came when no cycle could run
  std::atomic<bool> stop_{false};
};

/// An agent on the bus. Its peers' partitions, as configured, are theirs alone until set_owner()
/// says otherwise.
class AgentNode final : public Node {
 public:
  AgentNode(Agent agent, Endpoint& endpoint, Journal& journal, NodeOptions options = {});

  [[nodiscard]] const Agent& core() const noexcept { return agent_; }
  [[nodiscard]] Instant next_deadline() const noexcept override { return agent_.next_deadline(); }
  /// Replaces the journal by the core's snapshot. Between cycles only.
  [[nodiscard]] Status compact() { return compact_to(agent_.snapshot()); }
  /// The same by steps, of which each takes little: false once it is over.
  [[nodiscard]] Result<bool> compact_some() { return compact_by_steps(agent_); }
  /// From now on `model`, which must be the one that the core asks, learns from measured speeds
  /// after each cycle, and `memory` keeps what it learned every kKeepEvery of them. Both outlive
  /// the node.
  void teach(SpeedModel& model, SpeedMemory& memory) { model_ = &model, memory_ = &memory; }
  static constexpr std::uint32_t kKeepEvery = 64;
  /// From now on the policy, which was `made_of` that (packed_memory()), learns after each cycle,
  /// beginning with what was `kept`, and `memory`, which outlives the node, keeps what it learns;
  /// null: none does. Before the first cycle, at `now` of its clock. The error is for people: the
  /// policy has begun anew.
  Status remember(std::string made_of, PolicyMemory* memory, std::span<const std::byte> kept,
                  Instant now);
  /// Keeps what came since the last time. Between cycles only.
  void keep_learned();

 private:
  void receive(Instant now, Received received) override;
  void tick_core(Instant now) override;
  void fill_in() override;
  void run_commands() override;
  void keep_speeds();
  void refused() override { agent_.note_refused_frame(); }

  Agent agent_;
  Journal& journal_;
  std::uint64_t recalled_chunk_ = 0;  // the last one that was read
  std::map<JobId, JobState> recalled_;
  PolicyKeeper policy_;
  SpeedModel* model_ = nullptr;
  SpeedMemory* memory_ = nullptr;
  std::uint32_t unkept_ = 0;  // observations
};

/// An executor on the bus and the processes that it starts.
class ExecutorNode final : public Node {
 public:
  ExecutorNode(Executor executor, Endpoint& endpoint, Journal& journal, Launcher& launcher,
               NodeOptions options = {});

  [[nodiscard]] const Executor& core() const noexcept { return executor_; }
  [[nodiscard]] Instant next_deadline() const noexcept override;
  [[nodiscard]] Status compact() { return compact_to(executor_.snapshot()); }
  [[nodiscard]] Result<bool> compact_some() { return compact_by_steps(executor_); }

 private:
  void receive(Instant now, Received received) override;
  void tick_core(Instant now) override;
  void collect(Instant now) override;
  void fill_in() override;
  void run_commands() override;

  Executor executor_;
  Launcher& launcher_;
  std::vector<Exit> failed_starts_;  // told to the core as exits with code 127 at the next cycle
};

/// A client on the bus. It has no journal: what it must not forget, it asks for again.
class ClientNode final : public Node {
 public:
  /// `incarnation` must be larger than in any earlier life of this node id.
  ClientNode(Client client, Incarnation incarnation, const Limits& limits, Endpoint& endpoint,
             NodeOptions options = {});

  /// Jobs may be submitted and cancelled between cycles.
  [[nodiscard]] Client& core() noexcept { return client_; }
  [[nodiscard]] const Client& core() const noexcept { return client_; }
  [[nodiscard]] Instant next_deadline() const noexcept override { return client_.next_deadline(); }

 private:
  void receive(Instant now, Received received) override;
  void tick_core(Instant now) override;

  Client client_;
};

}  // namespace starling
