// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "agents/message.h"
#include "agents/parts/tombstones.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/time.h"
#include "topology/occupancy.h"

namespace starling {

/// How sure a hold is. Edges: reserved -> committed -> launched -> releasing -> gone, and from each
/// straight to gone.
enum class HoldPhase : std::uint8_t {
  reserved,   ///< in memory; lapses at `until`
  committed,  ///< durable; lasts until released
  launched,   ///< a process may run
  releasing   ///< processes are being stopped; not free before all are gone
};
[[nodiscard]] const char* name_of(HoldPhase phase) noexcept;

struct Hold {
  AgentId home;
  Placement gpus;    ///< ascending
  Demand each = {};  ///< CPUs and memory that go with each of them
  HoldPhase phase = HoldPhase::reserved;
  Instant until = kNever;  ///< of reserved ones
  bool given = false;      ///< by this life: not from a journal, not found
};

/// Which attempt may use which GPU of one partition, and which CPUs and memory go with it. The
/// partition's owner keeps exactly one ledger.
///
/// A GPU is free, held by up to Limits::jobs_per_gpu attempts, quarantined (of an executor that has
/// not said what runs there, or bad, or at rest), or drained. Nothing is free until trust(). A hold
/// is all or nothing. Pure: no clock, no I/O, no randomness. Every call is idempotent; one that
/// answers a Refusal has changed nothing. What was released is remembered (Limits::tombstones), so
/// that a late Reserve cannot bring it back.
class Ledger {
 public:
  /// `topology` outlives it. adopt() takes up to `room` tenants on a GPU, if that is more than the
  /// limit: an earlier life may have let more in than this one does.
  Ledger(const Topology& topology, IndexRange servers, const Limits& limits,
         std::uint32_t room = 0);

  /// Holds all of `gpus` for `attempt` until `until`, or none. A repeat extends the hold.
  /// `expired`: was released; `invalid`: not ascending or not of this partition; `not_ready`:
  /// quarantined; `conflict`: a job is there that it does not expect to share them with, or has
  /// the CPUs or the memory; `busy`: too many holds. `beside`: running attempts that it expects,
  /// one on a GPU; each has been offered to it. No other that is there will do.
  std::optional<Refusal> reserve(AttemptId attempt, AgentId home, const Placement& gpus,
                                 Instant until, Demand each = {},
                                 std::span<const AttemptId> beside = {});
  /// Makes a hold last that has not lapsed. A repeat changes nothing. `expired` otherwise.
  std::optional<Refusal> commit(Instant now, AttemptId attempt);
  /// reserve, commit and launched in one step, for an attempt that holds nothing yet; `conflict`
  /// only where a GPU is full, or CPUs or memory are too few.
  std::optional<Refusal> allocate(AttemptId attempt, AgentId home, const Placement& gpus,
                                  Demand each = {});
  /// From a journal or an inventory: the hold exists, quarantined or not. False if one of its GPUs
  /// is full or they are not of this partition; CPUs and memory it has, however little is left.
  bool adopt(AttemptId attempt, AgentId home, const Placement& gpus, HoldPhase phase,
             Demand each = {});
  /// committed -> launched; also from launched. The hold must exist.
  void launched(AttemptId attempt);
  /// -> releasing. The hold must exist.
  void releasing(AttemptId attempt);
  void set_home(AttemptId attempt, AgentId home) { holds_.at(attempt).home = home; }
  /// Ends the hold, if there is one, and refuses `attempt` from now on. `served` is kept for those
  /// that ask again. `durable`: the journal says so, too.
  void release(AttemptId attempt, Duration served, Instant now = {}, bool durable = false);
  /// Ends the hold without a trace: no home can ask for it again.
  void forget(AttemptId attempt);

  /// The executor of these servers has said what runs there / may be gone.
  void trust(IndexRange servers);
  void distrust(IndexRange servers);
  /// A bad GPU, or one on a server that an operator has drained, takes no job; what is there stays.
  /// Both must be of this partition. Repeats change nothing.
  void set_sick(GpuId gpu, bool sick);
  void set_drained(ServerId server, bool drained);
  /// Servers of an executor whose starts fail take no job for a while.
  void set_resting(IndexRange servers, bool resting);
  [[nodiscard]] bool is_resting(ServerId server) const { return resting_.contains(server); }
  [[nodiscard]] bool is_drained(ServerId server) const { return drained_.contains(server); }
  [[nodiscard]] const std::set<GpuId>& sick() const noexcept { return sick_; }
  [[nodiscard]] const std::set<ServerId>& drained() const noexcept { return drained_; }

  /// Null: none.
  [[nodiscard]] const Hold* find(AttemptId attempt) const;
  /// Service received, if the attempt was released. Null: it was not.
  [[nodiscard]] const Duration* released(AttemptId attempt) const;
  [[nodiscard]] const std::map<AttemptId, Hold>& holds() const noexcept { return holds_; }
  [[nodiscard]] const Tombstones& tombstones() const noexcept { return graves_; }
  [[nodiscard]] Tombstones& tombstones() noexcept { return graves_; }
  /// Held ones have tenants there, quarantined ones are blocked.
  [[nodiscard]] const Occupancy& gpus() const noexcept { return gpus_; }
  [[nodiscard]] std::uint32_t free_count() const noexcept { return gpus_.free_count(); }
  [[nodiscard]] std::uint32_t held_count() const noexcept { return gpus_.busy_count(); }
  /// Without a tenant and of an executor that has not spoken, or bad.
  [[nodiscard]] std::uint32_t quarantined_count() const {
    return gpus_.gpus().size() - free_count() - held_count() - drained_count();
  }
  /// Of those: bad, whatever its executor has said.
  [[nodiscard]] std::uint32_t sick_count() const;
  /// Of those: at rest, and for nothing else out of use.
  [[nodiscard]] std::uint32_t resting_count() const;
  /// Without a tenant, out of use for the drain of their server alone.
  [[nodiscard]] std::uint32_t drained_count() const;
  /// Grows with every change of what is free.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  [[nodiscard]] bool well_formed(const Placement& gpus) const;
  /// `beside`: the jobs that may be on the GPUs already; none: any.
  using Expected = std::optional<std::span<const AttemptId>>;
  [[nodiscard]] std::optional<Refusal> why_not(AttemptId attempt, const Placement& gpus,
                                               Demand each, Expected beside) const;
  /// The GPU has a tenant, and room for another; the tenant runs, and is one of those.
  [[nodiscard]] bool may_join(GpuId gpu, Expected beside) const;
  void free(const Hold& hold);
  [[nodiscard]] bool is_trusted(ServerId server) const;
  /// Blocks what must be of a server, and nothing else.
  void block_again(ServerId server);

  Limits limits_;
  Occupancy gpus_;
  std::map<AttemptId, Hold> holds_;
  std::vector<std::uint8_t> trusted_;  // by server of the partition
  std::set<GpuId> sick_;
  std::set<ServerId> drained_, resting_;
  Tombstones graves_;
  std::uint64_t version_ = 0;
};

}  // namespace starling
