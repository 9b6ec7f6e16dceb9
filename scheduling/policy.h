// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"
#include "interference/speed.h"
#include "scheduling/co_tenant.h"
#include "topology/occupancy.h"
#include "topology/server_room.h"
#include "topology/topology.h"
#include "topology/type_price.h"
#include "topology/type_room.h"
#include "workload/allocation.h"
#include "workload/job.h"

namespace starling {

/// What a policy may know of one job. `spec.duration` is the user's estimate: exact, noisy or 0
/// (unknown), as the experiment says; never more.
struct JobView {
  const JobSpec* spec = nullptr;    ///< valid during decide()
  Instant submitted;                ///< when the first home accepted it
  std::uint64_t order = 0;          ///< arrival order at this home; unique
  Duration served{0};               ///< time it has run so far, over all attempts
  std::uint32_t failed_rounds = 0;  ///< attempts that were refused before they started
  Placement placement;              ///< running jobs only: its GPUs, also those of other partitions
  bool blocked = false;             ///< an attempt or a forward is under way, or it must
                                    ///< not be started again: leave it alone
  std::uint32_t forwards = 0;       ///< homes that it has left so far
  /// Homes that this one has offered it to since it came; none is tried twice until it comes back.
  std::span<const AgentId> offered = {};
  Allocation allocation = {};  ///< running jobs only: what it runs by

  // What was measured of it, as its executors have told this life of its home; nothing safe depends
  // on it.
  Duration done{0};  ///< work of all its attempts, in time at the size asked for alone on its best
                     ///< placement; of a job that counts no steps, its time in them
  double pace = 0;   ///< newest: work per time in the same unit; 0: not measured in this attempt
  Instant measured_at = kNever;  ///< when both were; kNever: not in this attempt
  std::uint32_t restarts = 0;    ///< attempts after the first
  Duration restart_cost{0};      ///< that it spent stopping and starting again, in all; waiting for
                                 ///< GPUs is none of it. Off as much as the pace is
  double noise_scale = 0;        ///< of its gradients, in samples, newest; 0: it does not say
  std::uint32_t batch = 0;       ///< samples of one step, newest; 0: it does not say
  [[nodiscard]] Duration age(Instant now) const noexcept { return now - submitted; }
};

/// How a job came to be one of this home no more.
enum class JobFate : std::uint8_t { finished, failed, cancelled, moved };
/// One that has.
struct DepartedJob {
  std::shared_ptr<const JobSpec> spec;
  JobFate fate = JobFate::finished;
  std::uint64_t order = 0;  ///< as in JobView
  Instant submitted, at;
  Duration served{0};  ///< as in JobView, of all its attempts
};

/// What another partition said of itself. A hint: nothing safe may depend on it.
struct RemoteDigest {
  AgentId agent;
  PartitionId partition;
  std::uint32_t gpus = 0;
  std::uint32_t free = 0;
  std::uint32_t largest_free_server = 0;
  std::uint32_t whole_free_servers = 0;    ///< of the partition's commonest server size
  std::uint32_t waiting = 0;               ///< jobs homed there that wait
  std::uint64_t waiting_gpus = 0;          ///< GPUs that those want
  Instant at;                              ///< when it arrived here
  IndexRange servers = {};                 ///< of the partition; empty: not known
  std::span<const TypeRoom> types = {};    ///< ascending by type; empty: it does not say
  std::span<const float> summary = {};     ///< of its policy (Policy::summary); empty: none
  std::span<const ServerRoom> rooms = {};  ///< ServerRooms::read(); empty: nothing is taken beside
                                           ///< GPUs, or it does not say
  std::uint64_t version = 0;  ///< of one agent's digests equal for those that are equal
                              ///< but for `at`; 0: not known
  std::span<const TypePrice> prices = {};  ///< of its policy (Policy::prices), ascending by type;
                                           ///< empty: it has none, or it does not say
};

class RunningIndex;
class WaitingChanges;
struct Feedback;

/// What a policy may look at: one partition, its jobs, hints on the others, and a speed model.
struct View {
  const Topology& topology;
  const Occupancy& gpus;             ///< the partition; what decide() may place on at once
  std::span<const JobView> waiting;  ///< in arrival order
  std::span<const JobView> running;  ///< in start order; filled only if facts() says preemptive,
                                     ///< elastic or needs_running
  std::span<const RemoteDigest> others;  ///< by agent
  const SpeedModel& speed;
  Instant now;
  AgentId me;
  /// In the place of `running` where facts() say by_end. Null: `running` has them all the same.
  const RunningIndex* ends = nullptr;
  /// Of the list that `waiting` is. Null: no account is kept.
  const WaitingChanges* waiting_changes = nullptr;
  /// Jobs of this home that have ended or left since the last decide() of its present life, in
  /// turn; only the newest where they are thousands.
  std::span<const DepartedJob> departed = {};
};

// `allocation`: how it runs on them; its `workers` are those that the GPUs make, or 0, or those of
// a gang over partitions. As it asks, where an agent takes part whose protocol has no allocations.
struct Start {
  JobId job;
  Placement placement;
  Allocation allocation = {};
};  ///< ascending GPUs, all with room in View::gpus
struct Resize {
  JobId job;
  Placement placement;
  Allocation allocation = {};  ///< more workers than go there: then Spread, on GPUs of one type
};  ///< checkpoint, stop, start there: on other GPUs, or by another allocation
struct Preempt {
  JobId job;
};  ///< checkpoint, stop, wait again
struct Forward {
  JobId job;
  AgentId to;
};  ///< give the job a new home
/// Ask other partitions for a share: `local` GPUs here, the rest from bids. The core runs the
/// two-phase flow; the job stays waiting if one refuses. `type`: bids are asked for GPUs of
/// that type alone. `shares`: also for such as it would share with a job that runs there, this
/// partition as the others; then `local` is empty, and Policy::choose_tenants() has the last word.
struct Spread {
  JobId job;
  Placement local;
  std::optional<GpuTypeId> type = std::nullopt;
  bool shares = false;
  Allocation allocation = {};  ///< its `workers` are the gang's size; 0: as large as it asks to be
};
using Decision = std::variant<Start, Resize, Preempt, Forward, Spread>;

enum class TriggerKind : std::uint8_t { arrival, departure, round, digest };
struct Trigger {
  TriggerKind kind = TriggerKind::round;
};

enum class Family : char { placement = 'A', order = 'B', elastic = 'C' };

/// From what a policy can know how long jobs take.
enum class LengthSource : std::uint8_t {
  none,               ///< it decides the same whatever it is told
  past,               ///< jobs that have ended, whatever it is told of those to come
  estimates,          ///< JobView's spec.duration; of jobs without, it knows nothing
  estimates_or_past,  ///< the same; of jobs without, what those that have ended took
  truth,              ///< it foresees all (policies/foresight.h)
};

/// What a policy is and needs: what the engine must give it, and what it may be compared with.
struct PolicyFacts {
  std::string_view name;
  std::string_view summary;  ///< one line for people
  Family family = Family::order;
  bool preemptive = false;
  bool elastic = false;
  bool needs_running = false;  ///< wants View::running although it stops no job
  bool by_end = false;  ///< reads View::ends, if it is there, and View::running only otherwise
  bool shares_gpus = false;
  bool orders = false;      ///< of family A: asks about jobs in another order than they came in
  bool rebatches = false;   ///< chooses the batch of a job
  bool reads_pace = false;  ///< wants jobs to be measured where nothing else asks (JobView::pace)
  LengthSource lengths = LengthSource::none;
  bool needs_model_file = false;
  Duration round{0};  ///< 0: event-driven
};

/// How many jobs may run on one GPU under a policy. Two only where it wants that and where speeds
/// vary: a world that knows no slowdown would give the second job its GPU for nothing.
[[nodiscard]] constexpr std::uint32_t jobs_per_gpu(const PolicyFacts& facts, bool speeds_vary) {
  return facts.shares_gpus && speeds_vary ? 2 : 1;
}

/// Decides which jobs of a partition run where and when. Deterministic: same calls, same answers.
/// The core checks every decision against its ledger, so a wrong one costs quality, never safety.
class Policy {
 public:
  virtual ~Policy() = default;
  [[nodiscard]] virtual const PolicyFacts& facts() const noexcept = 0;
  /// Decisions in the order in which they are to be tried. Start decisions must leave room for each
  /// other.
  [[nodiscard]] virtual std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                                     Rng& rng) = 0;
  /// The core has refused one of the last decide()'s decisions (scheduling/feedback.h): before the
  /// next call of decide(), in their order. What is not refused has been carried out.
  virtual void refused(const Feedback&) {}
  /// When it may decide otherwise though nothing has happened since the last decide(), as where a
  /// job was not to move yet: it is asked again then, with the trigger `digest`. kNever: it would
  /// not.
  [[nodiscard]] virtual Instant ask_again_at() const { return kNever; }
  /// GPUs to offer a gang of `want` that spans partitions, ascending, possibly fewer; empty: none.
  /// `gpus_per_worker` workers never straddle servers. `each`: what the gang needs with each GPU.
  [[nodiscard]] virtual Placement offer(const View& view, std::uint32_t want,
                                        std::uint32_t gpus_per_worker, Demand each);
  /// What could share GPUs with a gang that spans partitions: jobs of this home that run here, at
  /// most `most`, those first that cost least. `gang`: as far as its home has told. None: no job.
  [[nodiscard]] virtual std::vector<CoTenant> co_tenants(const View&, const JobSpec& /*gang*/,
                                                         std::size_t /*most*/) {
    return {};
  }
  /// With which of `offered` the waiting gang is to share GPUs, beside the `free` ones that it can
  /// have: indices, no two the same, in the order in which they are to be used; the last need not
  /// be used whole. None, or too few: it waits on.
  [[nodiscard]] virtual std::vector<std::size_t> choose_tenants(
      const View&, const JobView& /*gang*/, std::uint32_t /*free*/,
      std::span<const CoTenant> /*offered*/) {
    return {};
  }
  /// A few numbers that sum up the partition for the same policy elsewhere (RemoteDigest::summary),
  /// at most kMostSummary; as of the last decide().
  [[nodiscard]] virtual std::span<const float> summary() const { return {}; }
  /// What a GPU of each type of the partition costs (topology/type_price.h), ascending by type,
  /// at most kMostTypeRooms; as of the last decide(). Empty: it has no prices.
  [[nodiscard]] virtual std::span<const TypePrice> prices() const { return {}; }
  /// Why it did with the job what it did last, a line each, for people; nothing if it does not keep
  /// that, or no longer.
  [[nodiscard]] virtual std::vector<std::string> explain(JobId) const { return {}; }
  /// What else can be said by what holds at this moment, without having kept anything: of one of
  /// the jobs of `view`, which waits or runs. That names no other partitions, departed jobs or
  /// changes.
  [[nodiscard]] virtual std::vector<std::string> explain_now(const View&, const JobView&) const {
    return {};
  }

  // What it learns outlives the process (scheduling/policy_memory.h). A policy that loses it, or is
  // given another's, decides worse for a while and nothing else.

  /// What it has learned, within kMostPolicyMemory; empty: it learns nothing. Instants are written
  /// as distances from `origin`, which is the same instant for all that read it.
  [[nodiscard]] virtual std::vector<std::byte> save(Instant /*origin*/) const { return {}; }
  /// Takes that up again, before the first decide(). `invalid` says what is wrong with the bytes;
  /// then nothing has changed.
  [[nodiscard]] virtual Status restore(std::span<const std::byte>, Instant /*origin*/) {
    return starling::done();
  }
  /// Of save()'s bytes; grows when they come to mean something else.
  [[nodiscard]] virtual std::uint32_t memory_version() const noexcept { return 1; }
  /// Grows when save() has something new to say.
  [[nodiscard]] virtual std::uint64_t learned() const noexcept { return 0; }
  /// Works on what decide() has noted. Called by the driver after each step, never inside one, so
  /// it may take longer than a decision; a few milliseconds at most.
  virtual void learn() {}
};

}  // namespace starling
