// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "agents/message.h"
#include "base/ids.h"
#include "base/result.h"

namespace starling {

// A table of structs, mostly one row each:
// clang-format off
// What must survive a crash, and nothing else. Replaying a journal's records in order gives the
// durable part of the memory state. What is written when: docs/architecture.md, Every record;
// before what is said: docs/protocol.md.

struct LifeBegan { Incarnation incarnation; Epoch epoch; };               ///< first record of each life
// Home
struct JobAccepted { Submit submit; std::uint64_t order = 0; };
struct AttemptStarting { AttemptId attempt; std::vector<Share> gang; Allocation allocation = {}; };  ///< before any Start leaves
struct AttemptDraining { AttemptId attempt; };                            ///< next attempt only after all Released
struct AttemptOver { AttemptId attempt; Duration served{0}; };            ///< all released: the job waits again
/// Only `to` may run the job from now on, also if that is this home again. Written before the Submit to the next
/// home leaves, because a home that crashes there must not run a job that another may have accepted.
struct JobOffered { JobId job; AgentId to; };
struct JobMoved { JobId job; AgentId to; };                               ///< the new home has accepted
/// What a job has behind it. Written when it is accepted, when it starts and when an attempt is over; the instants are a
/// calendar's (AgentConfig), `first_start` is -1 ns before the first start. `waits_since`: when its last attempt was over,
/// -1 ns while there is one, or was none; `requeued`: how long it had waited like that before.
struct JobPast {
  JobId job; Duration submitted{0}, first_start{-1};
  std::uint32_t attempts = 0, preemptions = 0, lost_attempts = 0;
  Duration requeued{0}, waits_since{-1};
};
/// What follows once an attempt has been drained. Written with AttemptDraining, and again when a user cancels.
enum class AfterDrain : std::uint8_t {
  wait,     ///< it was preempted
  retry,    ///< something went wrong that is not the job's fault: it waits, after a while
  restart,  ///< at `restart_at`
  cancel,
  fail,
  again,   ///< the job has failed, and is tried again after a pause
  requeue  ///< its user or an operator asked for it: it waits
};
struct AttemptPlan {
  AttemptId attempt; AfterDrain after = AfterDrain::wait; Placement restart_at; ExitStatus exit;
  Allocation restart_as = {};
};
/// What a job waits for beside GPUs, where that is not as it was submitted. `met`: bit i: its i-th After has come true;
/// `not_before`: a calendar's, -1 ns: at any time; `last`: how the last attempt that failed ended.
struct JobStanding {
  JobId job; bool held = false; std::uint64_t met = 0; std::uint32_t failures = 0; Duration not_before{-1}; ExitStatus last;
};
struct JobEnded { JobId job; JobState state; };                           ///< terminal, never changed
// Owner
struct ShareCommitted { AttemptId attempt; AgentId home; Commit commit; };
struct ShareLaunched { AttemptId attempt; };
struct ShareReleased { AttemptId attempt; };                              ///< tombstone of a committed share
struct ServerDrained { ServerId server; bool drained = false; };          ///< by an operator
struct DrainVersion { ServerId server; std::uint64_t version = 0; };      ///< SetDrain::version of the newest that counted
// Owner and executor, of tombstones
struct TombstoneServed { AttemptId attempt; Duration served{0}; };        ///< service received, where there was any
struct TombstonesDropped { std::vector<AttemptId> attempts; };            ///< nothing of them can still arrive
// Executor
struct EpochSeen { PartitionId partition; Epoch epoch; };                 ///< also a home's, of the others' partitions
struct ProcessLaunching { Launch launch; };
struct ProcessExited { AttemptId attempt; ExitStatus exit; Duration served{0}; };
/// Its processes are being stopped. `exit`: how it has ended, whatever becomes of those that are left.
struct ProcessStopping { AttemptId attempt; ExitStatus exit; };
struct ProcessForgotten { AttemptId attempt; };                           ///< exit acknowledged, or kill confirmed
/// An agent could have been told of its end, at that time of a clock that goes on over all lives
/// (ExecutorConfig). With its launch, then now and then. `by_home`: its home's word counts as well as its owner's.
struct ProcessWanted { AttemptId attempt; Duration at{0}; bool by_home = false; };

/// The latest life of another agent, or of an agent's own executor, that this node heard, and how far its journal had
/// come: a later life whose journal is shorter has lost records. `born` tells two lives of one number apart.
struct PeerKnown { NodeId node; Incarnation life; std::uint64_t born = 0, written = 0; };

struct TopologyRead { std::uint64_t fingerprint = 0; };                   ///< by this life; fingerprint_in()

// A home's, of what is over. The states of archived jobs are in the archive (Journal::archive), in a chunk that stays as
// it is until it is dropped.
/// `bytes`: what the chunk counts for; `at`: a calendar's, below zero where there is none; `came`: those of `jobs` that
/// another home had given away, and so may offer again until it has heard the answer.
struct JobsArchived { std::uint64_t chunk = 0, bytes = 0; Duration at{-1}; std::vector<JobId> jobs, came; };
struct ArchiveDropped { std::uint64_t chunk = 0; };       ///< its jobs are forgotten, but for peers that are owed an answer
/// Over or gone on, and forgotten, and perhaps still on offer somewhere. `offers`: of each the highest number of an offer
/// (Submit::forwards) that it has had; left out where all are over.
struct OffersOwed { std::vector<JobId> jobs; std::vector<std::uint32_t> offers = {}; };
struct OffersSettled { std::vector<JobId> jobs; };        ///< of those; they are offered no more
/// Of all lives, in snapshots: what is over and archived, or forgotten, is not counted again from the records themselves.
struct JobsCounted { std::uint64_t accepted = 0, finished = 0, failed = 0, cancelled = 0; };

// Queues (agents/quota/)
struct QueuesSet { QueueTree tree; };                     ///< that this agent goes by from now on; the keeper's first
/// The keeper's, of one home: what it may have at the utmost. Replaces what stood of that home.
struct QuotaPortions {
  struct Row { QuotaAccount account; std::uint32_t may = 0; friend bool operator==(const Row&, const Row&) = default; };
  AgentId home; QuotaStamp stamp; std::uint64_t tree = 0;  ///< of its newest ask
  std::vector<Row> rows;                                   ///< ascending
};

using RecordKinds =
    std::variant<LifeBegan, JobAccepted, AttemptStarting, AttemptDraining, AttemptOver, JobMoved,
                 JobEnded, ShareCommitted, ShareLaunched, ShareReleased, EpochSeen,
                 ProcessLaunching, ProcessExited, ProcessForgotten, JobOffered, JobPast, AttemptPlan,
                 TombstoneServed, TombstonesDropped, ServerDrained, DrainVersion, ProcessWanted,
                 TopologyRead, PeerKnown, JobsArchived, ArchiveDropped, OffersOwed, OffersSettled,
                 ProcessStopping, JobsCounted, JobStanding, QueuesSet, QuotaPortions>;
/// One of them. How it is copied, moved and destroyed is compiled once, not wherever one is seen.
struct Record : RecordKinds {
  using RecordKinds::RecordKinds;
  Record() noexcept;
  Record(const Record& other);
  Record(Record&& other) noexcept;
  Record& operator=(const Record& other);
  Record& operator=(Record&& other) noexcept;
  ~Record();
};

/// Append-only truth of one node. A failed append or sync is final: the process must stop (exit code 74).
class Journal {
 public:
  virtual ~Journal() = default;
  /// Durable when it returns; all of `records` or none. `io` when the disk refused.
  virtual Status append(std::span<const Record> records) = 0;
  /// All records since the last compaction, oldest first. Called once, before the first append.
  virtual Result<std::vector<Record>> recover() = 0;
  /// Replaces the whole journal by `records` (same replayed state, fewer records), atomically.
  virtual Status compact(std::span<const Record> records) = 0;
  /// The number of the last record that is durable. It grows with each that is written, in all lives, and with each
  /// compaction by more. 0: they have none.
  [[nodiscard]] virtual std::uint64_t position() const { return 0; }

  /// The same in steps, between which appends go on: until the last step what was there before counts, and a life that
  /// ends in between finds it whole, with all appends. One compaction at a time.
  virtual Status begin_compaction(std::vector<Record> records) { return compact(records); }
  /// Some hundred KiB of it. False: it is over.
  virtual Result<bool> step_compaction() { return false; }
  /// About how many bytes are to be read by a takeover now.
  [[nodiscard]] virtual std::uint64_t bytes() const { return 0; }

  // The archive beside the journal: what no takeover has to read. Durable when archive() returns.
  /// Writes a chunk, or replaces one that no record names: of a life that ended between the two.
  virtual Status archive(std::uint64_t /*chunk*/, std::span<const Record> /*records*/) {
    return {Errc::invalid, "this journal has no archive"};
  }
  /// `not_found`: there is no such chunk.
  virtual Result<std::vector<Record>> archived(std::uint64_t /*chunk*/) {
    return Error{Errc::not_found, "this journal has no archive"};
  }
  /// Removes that chunk and all with a lower number, where there are any.
  virtual Status forget(std::uint64_t /*chunk*/) { return done(); }
};

// clang-format on

}  // namespace starling
