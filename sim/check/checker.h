// SPDX-License-Identifier: Apache-2.0
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
#include "sim/check/changes.h"
#include "sim/check/client_history.h"
#include "sim/check/durable.h"
#include "sim/check/ledger_view.h"

namespace starling {

/// A process as the hardware has it: the ranks of one attempt on one server.
struct ProcessView {
  AttemptId attempt;
  Placement gpus;
  Demand each = {};  ///< what it needs with each
  Allocation allocation = {};
};
/// The whole world at one instant, between two events.
struct WorldView {
  std::vector<ProcessView> processes;
  std::vector<LedgerView> ledgers;
};

/// The omniscient observer: holds what nodes wrote, said and do against the safety rules. It sees
/// every record as it becomes durable, every frame as it arrives, every process as it ends and the
/// state after every cycle; it changes nothing. It counts for itself: what it knows of journals is
/// its own reading of the records (sim/check/durable.h), and figures of a core are only held
/// against its own.
///
///   S1  no GPU runs more processes than it may, nor two of one attempt
///   S2  a process has its GPUs by its partition's journal, and by its owner's ledger in every life
///   S3  a job has at most one live attempt, and no journal opens one beside another
///   S4  a process's attempt is committed by every participant
///   S5  a terminal state is the last and only one
///   S6  an acknowledged job is durable, and so is an end that is told
///   S7  epochs and incarnations never fall
///   S8  an epoch of a partition has one owner
///   S9  free, held, quarantined and drained GPUs add up, no GPU is held too often or trusted too
///       early, and the figures that are told are those
///   S10 a frame that is refused changes nothing
///   S11 what can grow is within its limit
///   S13 what clients are told, and show, is one story that only goes on; what is accepted is what
///       was submitted
///   S14 a node that could not write says nothing more
///   S15 memory holds what the journal says; versions and holds only move forward
///   S16 how a job is said to end is how its processes ended, and no attempt is started as one of a
///       job that has done more than was saved of it
///   S17 no server gives processes more CPUs or memory than it has
///   S18 a job that must not be started again is not
///   S20 no server leaves or changes while anything uses it
///   S21 no node is heard by a key that the receiver does not know as its own
///   S22 an attempt's processes run by its allocation, which each of its parts has written
///   S23 a gang has a size that its job may have, and is as large for each of its parts
///   S24 no job starts that is held, or before the jobs that it waits for have ended as they were
///       to
///   S25 no job starts by which its queue, one above it, or its user there, has more GPUs than the
///       most by any of the queue trees that agents go by at that moment
class Checker {
 public:
  /// `partitions`: by PartitionId; partition p starts with agent p.
  /// At most `jobs_per_gpu` processes and holds on a GPU.
  explicit Checker(std::span<const PeerAgent> partitions, std::uint32_t jobs_per_gpu = 1);

  void wrote(Instant now, NodeId node, std::span<const Record> records);
  /// `life`: of the sender, whose frame number `sequence` it is.
  void arrived(Instant now, NodeId from, NodeId to, const Message& message,
               Incarnation life = Incarnation{1}, std::uint64_t sequence = 0);
  /// Kinds of messages, by index into Message, that arrived() looks into. None: not one of those.
  [[nodiscard]] static bool reads(std::optional<std::size_t> kind) noexcept;
  void look(Instant now, const WorldView& world);
  /// A process with so many GPUs has ended: by itself, or because it was stopped.
  void process_ended(AttemptId attempt, std::size_t gpus, std::int32_t code, bool stopped);
  /// A snapshot has taken the journal's place.
  void compacted(Instant now, NodeId node, std::span<const Record> records);
  /// After a cycle in which the node wrote something.
  template <class State>
  void remembers(Instant now, NodeId node, const State& memory) {
    if (const std::string what = journal(node).differs(memory); !what.empty())
      fail("S15", now, node, what);
  }
  /// Another client has this name from now on. It shows what it was told itself; what the last one
  /// was told goes on to hold for all.
  void client_began(NodeId client) { clients_.began(client); }
  /// All journals speak in other numbers from now on, and partitions are these.
  void renumber(Instant now, const Renumbering& numbers, std::span<const PeerAgent> partitions);
  /// The same for what is in the journal of one node, which was restored().
  void renumber(Instant now, NodeId node, const Renumbering& numbers) {
    if (const std::string wrong = journal(node).renumber(numbers); !wrong.empty())
      fail("S20", now, node, wrong);
  }
  void heard_stranger(Instant now, NodeId by, NodeId whom) {
    fail("S21", now, by, "heard node " + std::to_string(whom.value) + " by a key that is not its");
  }
  /// A process uses a server that leaves or changes.
  void uprooted(Instant now, const std::string& what) { fail("S20", now, NodeId{}, what); }
  // By what was durable anywhere, ever.
  [[nodiscard]] bool accepted(JobId job) const { return durable_.contains(job); }
  [[nodiscard]] bool ended(JobId job) const { return ended_.contains(job); }
  [[nodiscard]] JobPhase end_of(JobId job) const { return ended_.at(job); }
  /// That the agent goes by, as it is durable; version 0: none.
  [[nodiscard]] const QueueTree& queues_of(AgentId agent) {
    return journal(agent_node(agent)).queues();
  }
  /// What a client shows of its jobs.
  void shows(Instant now, NodeId client, std::span<const JobOutcome> jobs);
  /// The hardware refused a process on a full GPU.
  void overlap(Instant now, const std::string& what) { fail("S1", now, NodeId{}, what); }
  /// Processes on a server need more than it has (sim/check/means.h).
  void overdrawn(Instant now, const std::string& what) { fail("S17", now, NodeId{}, what); }
  /// The hardware was told of service that it never gave.
  void overclaimed(Instant now, const std::string& what) { fail("S16", now, NodeId{}, what); }

  /// After a cycle of this node.
  void look_at(Instant now, NodeId node, const AgentState& agent);
  void look_at(Instant now, NodeId node, const ExecutorState& executor);
  /// The node's disk was replaced by another one, with these records on it: what it knew beyond
  /// them is gone, rightly.
  void new_disk(NodeId node, std::span<const Record> records = {});
  /// The same, and its number of lives was set back, too. Two lives may have one number then.
  void restored(NodeId node, std::span<const Record> records) {
    new_disk(node, records);
    lives_.erase(node);
    changes_.forget(node);
  }
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
  void check_waits(Instant now, NodeId node, const JobId& id);
  void check_queues(Instant now, NodeId node, AttemptId started);
  void check_process(Instant now, const ProcessView& process, const WorldView& world);
  void check_ledger(Instant now, const LedgerView& ledger);
  void check_end(Instant now, NodeId node, const JobEnded& ended);
  [[nodiscard]] Durable& journal(NodeId node);
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
  std::map<AttemptId, Allocation> allocations_;    // the same; not those that run as they ask
  std::map<JobId, AttemptId> once_;                // jobs with no_requeue; none: not started yet
  std::map<JobId, std::vector<After>> after_;      // of jobs that wait for others
  std::set<JobId> held_, limited_;                 // held now; with a time limit
  std::set<std::pair<AttemptId, PartitionId>> committed_;
  /// How the processes of an attempt have ended by themselves: GPUs by exit code.
  std::map<AttemptId, std::map<std::int32_t, std::size_t>> ends_;
  std::map<NodeId, Durable> journals_;
  /// Life of the owner in which it was told what runs there; by owner and executor.
  std::map<std::pair<NodeId, NodeId>, Incarnation> inventories_;
  std::set<std::string> excused_;
  Changes changes_;
  ClientHistory clients_;
  std::optional<std::string> violation_;
};

}  // namespace starling
