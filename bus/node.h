#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/agent.h"
#include "agents/client.h"
#include "agents/executor.h"
#include "agents/record.h"
#include "bus/codec.h"
#include "bus/endpoint.h"

namespace starling {

struct NodeOptions {
  std::uint32_t batch = 256;  ///< frames taken in before anything is written or sent
  const Clock* clock =
      nullptr;  ///< for run_until() and decision times; without one neither happens
  const Clock* stopwatch =
      nullptr;  ///< for decision times alone, where `clock` does not run at one second per second
};

/// What passed through one node, and what was refused and why.
struct NodeCounters {
  std::uint64_t frames_in = 0;     ///< received, good or bad
  std::uint64_t frames_out = 0;    ///< handed to the endpoint and taken
  std::uint64_t bad_frames = 0;    ///< refused by the codec
  std::uint64_t unauthorised = 0;  ///< a kind that this sender may not say to this node
  /// Of an earlier life of the sender, for an earlier one of this node, or overtaken.
  std::uint64_t stale = 0;
  std::uint64_t dropped = 0;   ///< not taken by the endpoint, or too large to send
  std::uint64_t withheld = 0;  ///< not sent, because the peer's protocol does not know it
  std::uint64_t records = 0;   ///< written to the journal
  std::uint64_t appends = 0;   ///< journal writes, each durable on its own
  std::uint64_t ticks = 0;
  friend bool operator==(const NodeCounters&, const NodeCounters&) = default;
};

/// The one loop around a core: take in a batch of frames, step, write once, then send, then run.
/// Simulator and daemons use the same object; only endpoint, journal, launcher and clock differ.
/// One thread.
///
/// A message is said in the oldest protocol that says all of it, at most in the newest that both
/// sides know; what that does not know is withheld. So Hello, Goodbye and what clients say are
/// understood by everybody, also by a peer that came back with an older version.
///
/// Guarantee: no message leaves before every record of the same turn is durable. A journal that
/// refuses ends the node: that turn sends nothing, and this and every later call returns the error.
class Node {
 public:
  struct Turn {
    std::uint32_t frames = 0;  ///< taken in
    bool more = false;         ///< the batch was full: call again at the same instant
  };

  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// One whole turn without waiting: ended processes, waiting frames, Tick, write, send, run.
  [[nodiscard]] Result<Turn> pump(Instant now);
  /// As pump(), without Tick. For a world that ticks only when everything of an instant has
  /// arrived.
  [[nodiscard]] Result<Turn> absorb(Instant now);
  /// As pump(), without frames and ended processes.
  [[nodiscard]] Status tick(Instant now);
  /// When pump() or tick() is due at the latest, if no frame comes before.
  [[nodiscard]] virtual Instant next_deadline() const noexcept = 0;

  /// Turns until `deadline` or request_stop(), asleep in the endpoint in between. True: stopped on
  /// request. Needs options.clock.
  [[nodiscard]] Result<bool> run_until(Instant deadline);
  /// For signal handlers: run_until() returns after at most one more turn.
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] NodeId id() const noexcept { return me_; }
  [[nodiscard]] const NodeCounters& counters() const noexcept { return counters_; }
  /// Why a peer last refused to talk to this node; empty: none has.
  [[nodiscard]] const std::string& goodbye() const noexcept { return goodbye_; }

  /// Partition `p` is owned by `owner` from now on: others that speak for it are refused.
  void set_owner(PartitionId p, NodeId owner) { owners_[p] = owner; }

 protected:
  Node(NodeId me, Incarnation incarnation, const Limits& limits, Endpoint& endpoint,
       Journal* journal, NodeOptions options, std::uint16_t protocol = kNewestProtocol);

  virtual void receive(Instant now, Received received) = 0;  ///< steps the core, appends to out_
  virtual void tick_core(Instant now) = 0;
  virtual void collect(Instant) {}  ///< ended processes into the core
  virtual void run_commands() {}    ///< after everything is sent
  virtual void refused() {}         ///< a frame was refused

  [[nodiscard]] const Clock* clock() const noexcept { return options_.clock; }
  [[nodiscard]] const Clock* stopwatch() const noexcept {
    return options_.stopwatch != nullptr ? options_.stopwatch : options_.clock;
  }

  ExecutorOutput out_;  // reused; `run` stays empty except in executors

 private:
  struct Seen {
    Incarnation incarnation;
    std::uint64_t digest = 0;
    std::uint64_t pong = 0;
    std::uint64_t greeting = 0;                ///< Welcome or InventoryRequest: newest sequence
    std::uint16_t protocol = kOldestProtocol;  ///< newest that both speak
  };

  void take(Instant now, const Delivery& delivery);
  [[nodiscard]] bool fresh(const Delivery& delivery, const Frame& frame);
  [[nodiscard]] bool authorised(NodeId from, const Message& message) const;
  [[nodiscard]] Turn drain(Instant now, std::uint32_t taken);
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
  std::string goodbye_;
  NodeCounters counters_;
  std::uint64_t sequence_ = 0;
  std::unordered_map<NodeId, Seen> seen_;
  std::map<PartitionId, NodeId> owners_;
  std::optional<Error> failed_;
  std::atomic<bool> stop_{false};
};

/// An agent on the bus. Its peers' partitions, as configured, are theirs alone until set_owner()
/// says otherwise.
class AgentNode final : public Node {
 public:
  AgentNode(Agent agent, Endpoint& endpoint, Journal& journal, NodeOptions options = {});

  [[nodiscard]] const Agent& core() const noexcept { return agent_; }
  [[nodiscard]] Instant next_deadline() const noexcept override { return agent_.next_deadline(); }
  /// Replaces the journal by the core's snapshot. Between turns only.
  [[nodiscard]] Status compact() { return journal_.compact(agent_.snapshot()); }
  /// From now on `model`, which must be the one that the core asks, learns from measured speeds
  /// after each turn, and `memory` keeps what it learned every kKeepEvery of them. Both outlive
  /// the node.
  void teach(SpeedModel& model, SpeedMemory& memory) { model_ = &model, memory_ = &memory; }
  static constexpr std::uint32_t kKeepEvery = 64;
  /// Keeps what came since the last time. Between turns only.
  void keep_learned();

 private:
  void receive(Instant now, Received received) override;
  void tick_core(Instant now) override;
  void run_commands() override;
  void refused() override { agent_.note_refused_frame(); }

  Agent agent_;
  Journal& journal_;
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
  [[nodiscard]] Status compact() { return journal_.compact(executor_.snapshot()); }

 private:
  void receive(Instant now, Received received) override;
  void tick_core(Instant now) override;
  void collect(Instant now) override;
  void run_commands() override;

  Executor executor_;
  Journal& journal_;
  Launcher& launcher_;
  std::vector<Exit> failed_starts_;  // told to the core as exits with code 127 at the next turn
};

/// A client on the bus. It has no journal: what it must not forget, it asks for again.
class ClientNode final : public Node {
 public:
  /// `incarnation` must be larger than in any earlier life of this node id.
  ClientNode(Client client, Incarnation incarnation, const Limits& limits, Endpoint& endpoint,
             NodeOptions options = {});

  /// Jobs may be submitted and cancelled between turns.
  [[nodiscard]] Client& core() noexcept { return client_; }
  [[nodiscard]] const Client& core() const noexcept { return client_; }
  [[nodiscard]] Instant next_deadline() const noexcept override { return client_.next_deadline(); }

 private:
  void receive(Instant now, Received received) override;
  void tick_core(Instant now) override;

  Client client_;
};

}  // namespace starling
