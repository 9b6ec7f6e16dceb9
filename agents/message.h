// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "agents/job_state.h"
#include "base/ids.h"
#include "base/time.h"
#include "topology/demand.h"
#include "topology/placement.h"
#include "topology/server_room.h"
#include "topology/type_price.h"
#include "topology/type_room.h"
#include "workload/allocation.h"
#include "workload/job.h"
#include "workload/queue_tree.h"
#include "workload/speed_health.h"

namespace starling {

// A table of structs, mostly one row each:
// clang-format off
// Everything that nodes say to one another, as plain structs. The codec (bus/) turns them into frames
// and back and checks every field's meaning, so cores may rely on ranges but never on truth. Durations are
// relative: no wall clock crosses the wire. Every message is idempotent; what a repeat or a latecomer does
// stands at its handler.

// Versions of the protocol that this program speaks. Two nodes speak the lower of their newest versions;
// every frame says the newest that its sender speaks (bus/wire/codec.h). docs/reliability.md, Versions, says
// what came with which.
constexpr std::uint16_t kOldestProtocol = 1, kNewestProtocol = 8;

enum class Role : std::uint8_t { unknown = 0, agent, executor, client };
enum class Refusal : std::uint8_t {
  unknown = 0, fenced, conflict, expired, invalid, busy, not_ready, never_fits, cancelled,
  denied  ///< the one who asks may not
};
[[nodiscard]] const char* name_of(Refusal refusal) noexcept;

/// Partition and the epoch that the sender believes in.
struct Fence {
  PartitionId partition;
  Epoch epoch;
  friend bool operator==(const Fence&, const Fence&) = default;
};

/// The part of a gang that one partition holds.
struct Share {
  PartitionId partition;
  Placement gpus;  ///< ascending, not empty
  friend bool operator==(const Share&, const Share&) = default;
};

// --- Session and liveness ---------------------------------------------------------------------
/// First word of a node to a peer, repeated until Welcome.
/// `topology` here and below: fingerprint_in() of what the sender has read; 0: it does not say.
struct Hello {
  Role role = Role::unknown; std::uint16_t protocol_min = 1, protocol_max = 1; std::string build;
  std::uint64_t topology = 0;
};
struct Welcome { Fence fence; std::uint64_t topology = 0; };  ///< from an agent: what it owns
/// Refused: wrong protocol, another topology. Or, where `life` is set, told to one life of a node, `of_life` and
/// `of_born`, that its state is an old copy: the sender knows life `life` of it, whose journal had `written` records.
struct Goodbye {
  std::string reason; Incarnation life{}; std::uint64_t written = 0; Incarnation of_life{}; std::uint64_t of_born = 0;
};
struct Ping { std::uint64_t sequence = 0; };
struct Pong { std::uint64_t sequence = 0; std::uint32_t loop_lag_us = 0; };  ///< lag: how late its cycles are
/// A hint about the sender's partition; newest version wins, nothing safe depends on it.
struct Digest {
  Fence fence; std::uint64_t version = 0;
  std::uint32_t gpus = 0, free = 0, largest_free_server = 0, whole_free_servers = 0;
  std::uint32_t waiting = 0; std::uint64_t waiting_gpus = 0;
  std::vector<TypeRoom> types = {};  ///< ascending by type, at most kMostTypeRooms; empty: not said
  std::vector<float> summary = {};   ///< of the policy, at most kMostSummary numbers; no reason to say it anew
  std::uint32_t out_of_service = 0;  ///< of `gpus`: neither free nor held
  /// CPUs and memory beside the free GPUs (ServerRooms::read()), at most kMostServerRooms. Empty:
  /// no job has taken any, or it is not said, as before protocol 3.
  std::vector<ServerRoom> rooms = {};
  /// Of the policy (Policy::prices), ascending by type, at most kMostTypeRooms. Empty: it has none, or it is not
  /// said, as before protocol 5.
  std::vector<TypePrice> prices = {};
};

// --- Client -----------------------------------------------------------------------------------
/// From a client, or from a home that gives the job away (then `client` and all behind it are set). `begun`: from its
/// acceptance to its first start; below zero: it has not run. `requeued`: as in JobState. What comes from a home waits for
/// nothing any more that delays it (JobTerms::delays); `failures`: of its attempts.
struct Submit {
  JobSpec spec; NodeId client; Duration waited{0}; Duration served{0}; std::uint32_t forwards = 0;
  std::uint32_t attempts = 0, preemptions = 0; Duration begun{-1}, requeued{0}; std::uint32_t failures = 0;
};
/// `offer`, here and in Rejected: of a Submit between homes its `forwards`, by which an answer to an earlier offer is
/// told from one to this; 0: of any other, or the sender does not say it.
struct Accepted { JobId job; AgentId home; std::uint32_t offer = 0; };
struct Busy { JobId job; std::uint32_t retry_ms = 0; };
/// Never accepted; or of a ChangeJob that does not go with how the job is: `conflict`, which no Submit is answered with.
struct Rejected { JobId job; Refusal why = Refusal::unknown; std::string reason; std::uint32_t offer = 0; };
struct Cancel { JobId job; };  ///< refused with Rejected and `denied` where it is not the asker's to end
struct Query { JobId job; };
struct Explain { JobId job; };
struct Explanation { JobId job; std::vector<std::string> lines; };  ///< why it waits, for people
struct ListJobs { JobId after; std::uint32_t limit = 100; };        ///< ids above `after`, ascending
struct JobList { std::vector<JobState> jobs; bool more = false; };
struct StatusQuery {};
/// For `top` and the result table: `accepted`, `finished`, `failed` are of all lives, other counters of this one. Latencies: 99th-percentile style histograms stay
/// inside; these are the figures.
struct AgentStatus {
  AgentId agent; Fence fence;
  std::uint32_t gpus = 0, free = 0, quarantined = 0, waiting = 0, running = 0;
  std::uint64_t accepted = 0, finished = 0, failed = 0, forwards = 0, cross_partition_gangs = 0;
  std::uint64_t preemptions = 0, resizes = 0, decisions = 0, refused_frames = 0, messages = 0;
  std::uint32_t decision_p50_us = 0, decision_p99_us = 0;
  // Since protocol 2.
  std::uint16_t protocol = kOldestProtocol;  ///< newest that it speaks
  std::uint32_t suspected = 0;  ///< nodes that neither it nor those it asked can hear
  std::uint32_t cut_off = 0;    ///< nodes that others hear and it does not
  std::uint32_t patience = 1;   ///< its own timeouts are so many times longer: 1 (well) to 8
  std::uint32_t drained = 0;    ///< GPUs without a job on drained servers
  std::uint32_t sick = 0;       ///< of `quarantined`: bad GPUs
  std::uint32_t foreign = 0;    ///< nodes that have read another topology, and are not worked with
  std::vector<ServerId> drained_servers;  ///< ascending, at most kMostListed
  Placement sick_gpus;                    ///< all bad ones, with or without a job, at most kMostListed
  SpeedHealth speed;                      ///< of the model that it asks how fast jobs run
  std::uint32_t resting = 0;              ///< of `quarantined`: at executors whose starts fail
  std::vector<std::string> troubles;      ///< such executors, a line each, at most kMostTroubles
  static constexpr std::size_t kMostListed = 1000, kMostTroubles = 16;
};

// --- Bidding and placement (home <-> owner) -----------------------------------------------------
/// `claim_ms` > 0: and start nothing new for so long, because this gang has waited for `waited`.
struct BidRequest {
  AttemptId attempt; std::uint32_t gpus = 0, gpus_per_worker = 1; std::vector<std::string> gpu_types;
  std::uint32_t claim_ms = 0; Duration waited{0};
  Demand each = {};  ///< here and below: CPUs and memory that the gang needs with each GPU
  // Since protocol 4: what an owner needs to judge which jobs could share GPUs with it.
  std::uint32_t gang = 0;  ///< GPUs of the whole gang, which may share some of them; 0: it shares none
  std::string model = {};  ///< that it trains, as JobSpec::model
  // Since protocol 5.
  std::int32_t priority = 0;  ///< of a claim: its job's, where all owners that it claims of know it
};
/// GPUs that have one job each, the same one, which the gang may join, and what that costs.
struct SharedRoom {
  AttemptId tenant;
  Placement gpus;            ///< ascending, in whole workers of the gang, server by server
  std::uint32_t speed = 0;   ///< of the gang there, of that alone there; in millionths, at most a million
  std::uint64_t loss = 0;    ///< GPU speeds that the jobs there lose, in millionths
  static constexpr std::size_t kMost = 64;  ///< in an Offer
};
/// A hint: holds nothing. `shared` since protocol 4, and only where it was asked for: then `share` may have no GPUs.
struct Offer {
  AttemptId attempt; Share share; std::uint32_t valid_ms = 0; std::vector<SharedRoom> shared = {};
};
struct NoOffer { AttemptId attempt; PartitionId partition; std::string reason; };
struct Reserve {
  AttemptId attempt; Fence fence; Placement gpus; std::uint32_t hold_ms = 0; Demand each = {};
  std::vector<AttemptId> beside = {};  ///< since protocol 4: tenants, as offered, that it will share some of these with
};
struct Reserved { AttemptId attempt; PartitionId partition; };
struct ReserveRefused { AttemptId attempt; PartitionId partition; Refusal why = Refusal::unknown; };
/// Carries all that a later Start needs. `gang` is the whole gang, for ranks and rates.
struct Commit {
  AttemptId attempt; Fence fence; JobSpec spec; std::vector<Share> gang; Duration served{0};
  Allocation allocation = {};  ///< since protocol 4; another one than as asked is not said in an earlier one
};
struct Committed { AttemptId attempt; PartitionId partition; };
struct CommitRefused { AttemptId attempt; PartitionId partition; Refusal why = Refusal::unknown; };
struct StartAttempt { AttemptId attempt; Fence fence; };
struct Started { AttemptId attempt; PartitionId partition; };
struct Release { AttemptId attempt; Fence fence; };
struct Released { AttemptId attempt; PartitionId partition; Duration served{0}; };  ///< nothing of it runs here
/// The owner asks the home about a hold. The answer brings `token` back, so that it counts from when it was asked for.
struct AttemptQuery { AttemptId attempt; PartitionId partition; std::uint64_t token = 0; };
enum class AttemptLife : std::uint8_t { unknown = 0, live, dead, not_ready };
/// From the home; or, said on to an executor, how long ago the home wanted it (then tokens only rise).
struct AttemptAnswer {
  AttemptId attempt; AttemptLife life = AttemptLife::unknown; std::uint64_t token = 0; Duration age{0};
};

// --- Executor (owner <-> executor; Exited travels on to the home) --------------------------------
/// `spec`: as it was submitted, also where the gang has another size.
struct Launch {
  AttemptId attempt; Fence fence; JobSpec spec; std::vector<Share> gang; Placement here; Duration served{0};
  Allocation allocation = {};  ///< as in Commit
};
struct LaunchResult { AttemptId attempt; bool ok = false; std::string reason; };
struct Kill { AttemptId attempt; Fence fence; };
struct Killed { AttemptId attempt; Duration served{0}; };    ///< confirmed: no process of it is left here
/// Every rank of the attempt on this executor (or, told to the home, in this partition) has ended.
struct Exited { AttemptId attempt; PartitionId partition; ExitStatus exit; Duration served{0}; };
struct ExitedAck { AttemptId attempt; PartitionId partition; };
/// `rate`: measured speed as a part of that alone on the best placement of the size asked for; 0:
/// it was not measured. Since protocol 5, 0 where it is not said: `noise`, the gradient noise scale
/// in samples; `batch`, samples of one step of all workers.
struct Progress {
  AttemptId attempt; Duration served{0}; double rate = 0; double noise = 0; std::uint32_t batch = 0;
  static constexpr double kMostNoise = 1e15;
  static constexpr std::uint32_t kMostBatch = 1'000'000'000;
};
struct InventoryRequest { Fence fence; std::uint64_t topology = 0; };
struct InventoryItem {
  AttemptId attempt; Placement gpus; bool exited = false; ExitStatus exit; Duration served{0}; Demand each = {};
};
/// `sick` since protocol 2: as in GpuHealth.
struct Inventory { Fence fence; std::vector<InventoryItem> items; std::uint64_t health = 0; Placement sick = {}; };
struct Fenced { PartitionId partition; Epoch epoch; };       ///< your epoch is old; this one is current

// --- Since protocol 2 ------------------------------------------------------------------------------
/// The sender hears nothing of `node`, an agent or an executor: does the receiver? Answered at once if it does,
/// else when it does or after two heartbeats.
struct ProbeFor { NodeId node; };
struct ProbeResult { NodeId node; bool reached = false; };
/// From an executor: all GPUs of its servers that must not be used. Repeated until seen; versions only rise.
struct GpuHealth { std::uint64_t version = 0; Placement sick; };
struct GpuHealthSeen { std::uint64_t version = 0; };
/// An operator: nothing new is placed on the server from now on, or again. `evict`: what runs there is requeued.
/// Of two words about one server that with the higher version counts; 0: its sender does not count them.
/// `denied`: its sender is no operator.
struct SetDrain { ServerId server; bool drained = false, evict = false; std::uint64_t version = 0; };
/// Answer, once it is durable. `attempts` still hold GPUs there. `invalid`: the server is of another partition;
/// `expired`: another word with this version or a higher one has been heard. `version`: the highest heard.
struct DrainState {
  ServerId server; bool drained = false; std::uint32_t attempts = 0; Refusal why = Refusal::unknown;
  std::uint64_t version = 0;
};

// --- Since protocol 3 ------------------------------------------------------------------------------
/// A client asks for a page of what an attempt has printed on a server: the owner of that partition, which passes it on
/// to the executor with `client` set. It is not remembered; a client that gets no answer asks again.
struct ReadOutput {
  AttemptId attempt; ServerId server; NodeId client;
  std::uint64_t file = 0;      ///< from an earlier page; 0: from the beginning of what there is
  std::uint64_t offset = 0;    ///< in that file
  std::uint32_t from_end = 0;  ///< with file 0: so many bytes before the end
};
/// Answer to that, the same way back. The next page begins at `next` of `file`.
struct OutputPage {
  AttemptId attempt; ServerId server; NodeId client;
  std::uint64_t asked_file = 0, asked_offset = 0;
  std::uint64_t file = 0, next = 0;  ///< file 0: there is none
  bool more = false;                 ///< there is more now
  bool gap = false;                  ///< what came before these bytes is gone
  std::string bytes = {};            ///< at most kMost, as they were printed
  std::string trouble = {};          ///< why there are none and never will be
  static constexpr std::size_t kMost = 64 * 1024;
};

// --- Since protocol 4 ------------------------------------------------------------------------------
/// What the sender knows of partitions, its own and others, where a flock is too large for each agent to
/// tell all others. Of each the newest version wins, whichever agent says it; nothing safe depends on it, and the
/// epoch of another's counts for nothing.
struct Digests {
  struct Word {
    Digest digest;
    std::uint32_t age_ms = 0;  ///< since its owner said it, as far as it is known: ways are not counted
  };
  std::vector<Word> words;  ///< each of another partition, at most kMost
  static constexpr std::size_t kMost = 64;
};

// --- Since protocol 6 ------------------------------------------------------------------------------
enum class JobChange : std::uint8_t {
  unknown = 0,
  hold,          ///< it does not start before it is released
  release,       ///< and now it may, as far as its user goes
  requeue,       ///< stop the attempt, and wait again
  requeue_hold,  ///< the same, held
};
[[nodiscard]] const char* name_of(JobChange change) noexcept;
/// From a client to the home: answered with JobState once it is durable, or with Rejected. A requeue is of the attempt
/// that it names, so a repeat stops no later one.
struct ChangeJob { JobId job; JobChange change = JobChange::unknown; Epoch attempt_epoch{}; std::uint64_t attempt_number = 0; };

// --- Since protocol 8 ------------------------------------------------------------------------------
/// From an operator to the agent of partition 0, the keeper of queues: answered with QueuesState once it is durable.
/// And from the keeper to other agents, until they ask under that tree. Its version is the next after the one in force, or
/// where the keeper has lost that, any above all that homes have said.
struct SetQueues { QueueTree tree; };
/// From a client to the keeper, answered with QueuesState.
struct QueuesQuery {};
/// GPUs of a queue with all below it, or of one user in a leaf.
struct QueueUse {
  QuotaAccount account;
  std::uint32_t may = 0;   ///< portions of all homes
  std::uint32_t used = 0;  ///< of attempts, as homes have last said
  std::uint32_t want = 0;  ///< asked for by jobs that are kept back, as homes have last said
  friend bool operator==(const QueueUse&, const QueueUse&) = default;
};
/// `why` unknown: `tree` is in force, or with a `reason`, the keeper has lost what was, and the version is that of the
/// lost one. Otherwise why another was not taken.
struct QueuesState {
  QueueTree tree; std::vector<QueueUse> uses; std::vector<AgentId> unaware; Refusal why = Refusal::unknown; std::string reason;
  static constexpr std::size_t kMostUses = 8192;
};
/// Of one home; a later life's are newer than all of an earlier one.
struct QuotaStamp {
  Incarnation life{}; std::uint64_t number = 0;
  friend auto operator<=>(const QuotaStamp&, const QuotaStamp&) = default;
};
/// GPUs of one account. `first`, `priority`, `waited`: of the first job that is kept back.
struct QuotaWant {
  QuotaAccount account; std::uint32_t keep = 0, used = 0, want = 0, first = 0; std::int32_t priority = 0; Duration waited{0};
};
/// From a home to the keeper: from this stamp on it may have what it keeps, and no more. Every leaf of the tree has a
/// row that it uses or wants something of; what has none has nothing there. `tree`: the version that it knows.
struct QuotaAsk {
  QuotaStamp stamp; std::uint64_t tree = 0; std::vector<QuotaWant> rows;
  static constexpr std::size_t kMost = 8192;
};
/// `bound`: the queue whose `most` stands in the way of more; empty: none does, or all is given. `scarce`: others wait
/// for what the home has and does not use.
struct QuotaMay {
  QuotaAccount account; std::uint32_t may = 0; std::string bound; bool scarce = false;
  bool over = false;  ///< more than there may be is given out: what stops is given back, also where it would start again
};
/// Answer to the newest ask of the home, repeated with more, and whenever something is scarce.
struct QuotaGrant { QuotaStamp stamp; std::uint64_t tree = 0; std::vector<QuotaMay> rows; };

using MessageKinds = std::variant<
    Hello, Welcome, Goodbye, Ping, Pong, Digest, Submit, Accepted, Busy, Rejected, Cancel, Query, JobState,
    Explain, Explanation, ListJobs, JobList, StatusQuery, AgentStatus, BidRequest, Offer, NoOffer, Reserve,
    Reserved, ReserveRefused, Commit, Committed, CommitRefused, StartAttempt, Started, Release, Released,
    AttemptQuery, AttemptAnswer, Launch, LaunchResult, Kill, Killed, Exited, ExitedAck, Progress,
    InventoryRequest, Inventory, Fenced, ProbeFor, ProbeResult, GpuHealth, GpuHealthSeen, SetDrain, DrainState,
    ReadOutput, OutputPage, Digests, ChangeJob, SetQueues, QueuesQuery, QueuesState, QuotaAsk, QuotaGrant>;
/// One of them. How it is copied, moved and destroyed is compiled once, not wherever one is seen.
struct Message : MessageKinds {
  using MessageKinds::MessageKinds;
  Message() noexcept;
  Message(const Message& other);
  Message(Message&& other) noexcept;
  Message& operator=(const Message& other);
  Message& operator=(Message&& other) noexcept;
  ~Message();
};

/// The table's name, for logs and stories: "Reserve".
[[nodiscard]] const char* name_of(const Message& message) noexcept;
/// The version of the protocol that a kind, an index into Message, came with.
[[nodiscard]] constexpr std::uint16_t protocol_of(std::size_t kind) noexcept {
  constexpr std::size_t kFirstOfTwo = 44, kFirstOfThree = 50, kFirstOfFour = 52, kFirstOfSix = 53,
                        kFirstOfEight = 54;
  static_assert(std::is_same_v<std::variant_alternative_t<kFirstOfTwo, MessageKinds>, ProbeFor>);
  static_assert(std::is_same_v<std::variant_alternative_t<kFirstOfThree, MessageKinds>, ReadOutput>);
  static_assert(std::is_same_v<std::variant_alternative_t<kFirstOfFour, MessageKinds>, Digests>);
  static_assert(std::is_same_v<std::variant_alternative_t<kFirstOfSix, MessageKinds>, ChangeJob>);
  static_assert(std::is_same_v<std::variant_alternative_t<kFirstOfEight, MessageKinds>, SetQueues>);
  return kind < kFirstOfTwo ? 1 : kind < kFirstOfThree ? 2 : kind < kFirstOfFour ? 3 : kind < kFirstOfSix ? 4
         : kind < kFirstOfEight ? 6 : 8;
}
/// The oldest version in which the message may be said at all: a node that leaves out that a job is to run otherwise
/// than it asks makes it run wrongly.
[[nodiscard]] std::uint16_t least_protocol_of(const Message& message) noexcept;
/// Since when attempts have allocations.
constexpr std::uint16_t kAllocationProtocol = 4;
/// Since when claims say how urgent they are.
constexpr std::uint16_t kClaimPriorityProtocol = 5;
/// Since when jobs have terms that delay them.
constexpr std::uint16_t kTermsProtocol = 6;
/// The first in which an answer says which offer of a home it answers. Before that a home offers a job to another once.
constexpr std::uint16_t kOfferProtocol = 7;
/// Since when there are queues.
constexpr std::uint16_t kQueuesProtocol = 8;
/// The oldest version that says all there is in a message of that kind. What a client says is the same in every
/// version, so an agent that came back with an older one, and cannot tell clients, still understands them.
[[nodiscard]] std::uint16_t wholly_said_in(const Message& message) noexcept;

// clang-format on

}  // namespace starling
