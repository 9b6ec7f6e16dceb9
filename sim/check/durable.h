// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agents/record.h"
#include "topology/compare.h"

namespace starling {

struct AgentState;
struct ExecutorState;
class QuotaKeeper;

/// What one node's journal says, read by the checker's own rules: none of the code that cores
/// recover with has a part in it, so what they leave out, or read wrongly, is seen.
class Durable {
 public:
  enum class Stage : std::uint8_t { waiting, offered, starting, draining };
  struct Job {
    Submit submit;  ///< as it was accepted
    std::uint64_t order = 0;
    Stage stage = Stage::waiting;
    AttemptId attempt;        ///< from `starting` on
    std::vector<Share> gang;  ///< of that
    AfterDrain after = AfterDrain::wait;
    Placement restart_at;   ///< where the next attempt is to be
    Allocation allocation;  ///< of the attempt, from `starting` on
    Allocation restart_as;  ///< of the next one
    Duration served{0};
    std::uint32_t attempts = 0, preemptions = 0, lost_attempts = 0;
    std::vector<AgentId> offered;
    bool held = false;
    std::uint64_t met = 0;
    std::uint32_t failures = 0;
    friend bool operator==(const Job& a, const Job& b);
  };
  struct Gone {
    AgentId to;
    std::uint32_t forwards = 0;
    friend bool operator==(const Gone&, const Gone&) = default;
  };
  /// A part of a gang in the partition that this node owns.
  struct Held {
    AgentId home;
    std::vector<Share> gang;
    bool launched = false;
    Allocation allocation = {};
    friend bool operator==(const Held&, const Held&) = default;
  };
  /// What an executor runs, or ran and no agent has heard of yet.
  struct Run {
    Placement gpus;
    std::optional<ExitStatus> stopping;  ///< how it has ended once all of it is gone
    std::optional<ExitStatus> exit;
    Duration served{0};
    Allocation allocation = {};
    friend bool operator==(const Run&, const Run&) = default;
  };

  /// `me`: the agent whose journal it is; none: an executor's.
  explicit Durable(std::optional<AgentId> me = std::nullopt) : me_(me) {}
  /// Of a journal that was put there, as it is. Where it begins with a snapshot that says only
  /// which jobs are in the archive, not how they ended: that they have.
  void read(std::span<const Record> records);

  /// The next record of the journal. What cannot follow on what stands there, in words; empty: it
  /// can.
  [[nodiscard]] std::string apply(const Record& record);
  /// A snapshot stands for all that was there before it. What it says otherwise, in words.
  [[nodiscard]] std::string compacted(std::span<const Record> records);
  /// Servers and GPUs have got other numbers: what the node has to read in its journal from now on,
  /// whether it has translated it yet or not. The first that may not be, because it uses what is
  /// not there any more or is another one now, in words; empty: nothing.
  [[nodiscard]] std::string renumber(const Renumbering& numbers);

  // What memory has otherwise, or does not have at all; empty: nothing. At the end of a cycle.
  [[nodiscard]] std::string differs(const AgentState& memory) const;
  [[nodiscard]] std::string differs(const ExecutorState& memory) const;
  /// The same of queues: `tree` is the one that the agent goes by, `keeper` what hands out portions
  /// there; null: another agent does.
  [[nodiscard]] std::string queues_differ(const QueueTree& tree, const QuotaKeeper* keeper) const;

  [[nodiscard]] const Job* open(JobId job) const;
  [[nodiscard]] const JobState* ended(JobId job) const;
  [[nodiscard]] const Held* held(AttemptId attempt) const;
  [[nodiscard]] const std::map<JobId, Job>& jobs() const noexcept { return jobs_; }
  /// That the agent goes by; version 0: none.
  [[nodiscard]] const QueueTree& queues() const noexcept { return queues_; }
  [[nodiscard]] Incarnation life() const noexcept { return life_; }
  [[nodiscard]] Epoch epoch() const noexcept { return epoch_; }

 private:
  struct Effects;  // of each kind of record

  [[nodiscard]] Job* with(AttemptId attempt);
  void release_own(AttemptId attempt);
  [[nodiscard]] Epoch newest() const;  // of all that it has seen
  [[nodiscard]] std::string differs_from(const Durable& other) const;
  [[nodiscard]] bool same_archive(const Durable& other) const;
  [[nodiscard]] std::string jobs_differ(const AgentState& memory) const;
  [[nodiscard]] std::string shares_differ(const AgentState& memory) const;

  std::optional<AgentId> me_;
  Incarnation life_;
  Epoch epoch_;
  std::map<JobId, Job> jobs_;
  std::map<JobId, JobState> ended_;                   // also those in the archive
  std::map<JobId, std::uint64_t> archived_;           // of those: the chunk
  std::map<std::uint64_t, std::vector<JobId>> came_;  // of a chunk: from another home
  std::map<JobId, std::uint32_t> owed_;               // up to which offer
  std::map<JobId, Gone> moved_;
  std::map<JobId, std::vector<AgentId>> offered_before_;  // of those: where they had been offered
  std::map<AttemptId, Held> held_;
  std::map<AttemptId, Run> runs_;
  std::set<AttemptId> over_;  // tombstones
  std::map<PartitionId, Epoch> epochs_;
  bool rewrites_archive_ = false;  // the next snapshot may name other chunks
  std::set<ServerId> drained_;
  std::map<ServerId, std::uint64_t> words_;
  QueueTree queues_;
  std::map<AgentId, QuotaPortions> portions_;  // of a keeper, by home
};

}  // namespace starling
