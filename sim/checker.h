#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/config.h"
#include "agents/record.h"
#include "sim/changes.h"
#include "sim/client_history.h"

namespace starling {

/// A process as the hardware has it: the ranks of one attempt on one server.
struct ProcessView {
  AttemptId attempt;
  Placement gpus;
};
/// What one owner's ledger says. Down or reconciling owners have no say.
struct LedgerView {
  PartitionId partition;
  NodeId owner;
  IndexRange gpus;
  bool reconciling = false;
  std::uint32_t free = 0, quarantined = 0;
  std::vector<std::pair<AttemptId, Placement>> holds;  ///< reserved, committed or running
  std::uint32_t sick = 0;                              ///< of `quarantined`: bad
  std::uint32_t drained = 0;                           ///< without a tenant
};
[[nodiscard]] LedgerView ledger_view(const AgentState& state);
/// The whole world at one instant, between two events.
struct WorldView {
  std::vector<ProcessView> processes;
  std::vector<LedgerView> ledgers;
};

/// The omniscient observer: holds what nodes wrote, said and do against the safety rules. It sees
/// every record as it becomes durable, every frame as it arrives and the state after every event;
/// it changes nothing.
///
///   S1 no GPU runs more processes than it may, nor two of one attempt
///   S2 a process is in its owner's ledger
///   S3 a job has at most one live attempt      S4 a process's attempt is committed by every
///   participant S5 a terminal state is the last and only one   S6 an acknowledged job is durable
///   S7 epochs and incarnations never fall      S8 an epoch of a partition has one owner
///   S9 free, held, quarantined and drained GPUs add up, and no GPU is held too often
///   S10 a frame that is refused changes nothing   S11 what can grow is within its limit
///   S13 what clients are told is one story   S14 who could not write says nothing more
///   S15 the journal gives back what memory held   and versions and holds only move forward
class Checker {
 public:
  /// `partitions`: by PartitionId; partition p starts with agent p.
  /// At most `jobs_per_gpu` processes and holds on a GPU.
  explicit Checker(std::span<const PeerAgent> partitions, std::uint32_t jobs_per_gpu = 1);

  void wrote(Instant now, NodeId node, std::span<const Record> records);
  /// `life`: of the sender.
  void arrived(Instant now, NodeId from, NodeId to, const Message& message,
               Incarnation life = Incarnation{1});
  void look(Instant now, const WorldView& world);
  /// The hardware refused a process on a full GPU.
  void overlap(Instant now, const std::string& what) { fail("S1", now, NodeId{}, what); }

  /// By AgentId; null while down.
  void look_at_changes(Instant now, std::span<const AgentState* const> agents);
  /// The node's disk was replaced: what it knew of epochs is gone, rightly.
  void new_disk(NodeId node);
  /// Rules that are not looked at: the world breaks what they rest on.
  void excuse(const std::string& rule) { excused_.insert(rule); }
  /// A frame that had to be refused was taken, or left a trace.
  void took_refused(Instant now, NodeId node, const std::string& what) {
    fail("S10", now, node, what);
  }
  void spoke_after_refusal(Instant now, NodeId node) {
    fail("S14", now, node, "said something although its journal had refused to write");
  }
  void memory_differs(Instant now, NodeId node, const std::string& what) {
    fail("S15", now, node, what);
  }

  /// The first thing that was wrong: rule, time, node and what was seen.
  [[nodiscard]] const std::optional<std::string>& violation() const noexcept { return violation_; }

 private:
  struct Life {
    Incarnation incarnation;
    Epoch epoch;
  };

  void fail(const char* rule, Instant now, NodeId node, const std::string& what);
  void wrote_one(Instant now, NodeId node, const Record& record);
  void began(Instant now, NodeId node, const LifeBegan& began);
  void own(Instant now, PartitionId partition, Epoch epoch, NodeId node);
  void ended(Instant now, NodeId node, const JobEnded& ended);
  void starting(Instant now, NodeId node, const AttemptStarting& starting);
  void check_process(Instant now, const ProcessView& process, const WorldView& world);
  void check_ledger(Instant now, const LedgerView& ledger);
  [[nodiscard]] std::optional<PartitionId> own_partition(NodeId node) const;
  [[nodiscard]] PartitionId partition_of(GpuId gpu) const;

  std::vector<PeerAgent> partitions_;
  std::uint32_t jobs_per_gpu_;
  std::map<NodeId, Life> lives_;
  std::map<std::pair<PartitionId, Epoch>, NodeId> owners_;
  std::map<std::pair<NodeId, PartitionId>, Epoch> epochs_seen_;
  std::set<JobId> durable_;
  std::map<JobId, JobPhase> ended_;
  std::map<AttemptId, std::vector<Share>> gangs_;  // of AttemptStarting
  std::set<std::pair<AttemptId, PartitionId>> committed_;
  std::set<std::string> excused_;
  Changes changes_;
  ClientHistory clients_;
  std::optional<std::string> violation_;
};

}  // namespace starling
