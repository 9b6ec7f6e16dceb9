// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policies/gavel/gavel_allocation.h"
#include "policies/gavel/gavel_rounds.h"
#include "policies/gavel/gavel_sharing.h"
#include "policies/options.h"
#include "policies/partitions/price_routing.h"
#include "policies/queues/rounds.h"
#include "scheduling/queue_order.h"

namespace starling {

struct GavelOptions {
  std::string_view name = "gavel";  ///< what the policy is called, and says of itself; for good
  std::string_view summary = "shares of every GPU type by a linear program, kept by rounds";
  QueueOptions queue{};
  GavelObjective objective = GavelObjective::max_min_fairness;
  bool aware = true;  ///< knows how fast each job is on each type
  /// Pairs of gangs of one size may run on the same GPUs, where the core allows two jobs on a GPU,
  /// where both have the memory, and where together they do more than one after the other.
  bool sharing = false;
  Duration round = std::chrono::seconds(360);
  Duration between_resets = std::chrono::seconds(1920);  ///< allocations last at least this long
  /// For tests that follow another simulator step by step: instead of agnostic FIFO's own
  /// allocation, and instead of decide()'s Rng for the order of types; a number below the argument.
  std::function<GavelAllocation(const GavelProblem&)> agnostic_fifo = {};
  GavelFifo::Pick shuffle_types = {};
};

/// The options of all policies that keep Gavel's rounds: fit, round, reset.
void read_rounds(OptionReader& reader, GavelOptions& options);

/// Gavel (OSDI'20). An allocation says how much of its time every job runs on every GPU type; at
/// the start of every round the jobs that are furthest behind theirs run, on one type each, where
/// they ran before if they can.
///
/// A gang that no single type of the partition can hold is outside of this: it waits ten minutes,
/// then gets GPUs of several types at the next round that has room, and keeps them.
class GavelPolicy final : public Policy, public QueueOrder {
 public:
  explicit GavelPolicy(const GavelOptions& options);
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;
  [[nodiscard]] std::span<const TypePrice> prices() const override { return routing_.prices(); }
  /// A round goes by priority, then by how far a job is behind its share, not by when it came.
  [[nodiscard]] bool asks_first(const JobView& a, const JobView& b, Instant) const override {
    return a.spec->priority > b.spec->priority;
  }
  /// By its account: gavel_explain.cpp.
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override;
  /// The accounts of the jobs: what each has received, is owed, and has done. Where they are too
  /// many, of those that have run longest.
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override;
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override;
  [[nodiscard]] std::uint64_t learned() const noexcept override { return observed_; }

 private:
  struct Type {
    std::string name;
    GpuTypeId id;
    std::uint32_t gpus = 0;
  };
  struct Known {
    std::vector<double> speed;        // by type; relative to the job's fastest anywhere
    std::optional<std::size_t> runs;  // on this type, when last seen
    Duration served{0};
    double done = 0;        // seconds of isolated work
    double isolated_s = 0;  // that this took on a fair share
    double done_at_reset = 0;
    double isolated_speed = 0;  // at the last reset
    bool seen = false;
    std::size_t kind = 0;         // in kinds_
    std::optional<JobId> beside;  // who ran on the same GPUs, when last seen
    double speed_beside = 1;      // its speed there
  };
  struct Together {
    JobId first, second;
    std::vector<double> speed;  // by type; 0: not there
  };
  /// One that a round may give GPUs.
  struct Member {
    const JobView* job;
    const Known* known;
  };
  /// What restore() has read, until the types of the partition are known. Any that it does not have
  /// make it worthless.
  struct Restored {
    std::vector<std::string> types;
    GavelRounds accounts;
    std::map<JobId, Known> known;
    std::map<JobId, std::size_t> held;
    std::vector<Together> together;
    bool changed = false;
    Instant last_seen;
  };
  [[nodiscard]] std::set<GavelCombination> worth_keeping() const;
  void write_known(MemoryWriter& out, const std::set<GavelCombination>& kept) const;
  void read_known(MemoryReader& in, Restored& all) const;
  void take_up(const View& view, Restored restored);
  void learn_types(const View& view);
  [[nodiscard]] std::vector<double> speeds(const View& view, const JobSpec& job) const;
  [[nodiscard]] bool shares(const View& view) const;
  [[nodiscard]] std::size_t kind_of(const JobSpec& job);
  /// Of two kinds, the smaller first; asked once.
  const GavelProblem::Pair& pair_of(const View& view, std::size_t first, std::size_t second);
  void see_neighbours(const View& view);
  /// What a combination of jobs has run since it was last seen.
  void count(JobId job, const Known& known, Duration more);
  [[nodiscard]] std::optional<std::size_t> type_of(const View& view,
                                                   const Placement& placement) const;
  void see(const View& view, const JobView& job);
  void allocate(const View& view, Rng& rng);
  [[nodiscard]] GavelAllocation allocate_alone(const GavelProblem& problem, Rng& rng);
  [[nodiscard]] GavelShares allocate_shared(const View& view, GavelProblem& problem);
  void observe(const View& view);
  void plan_round(const View& view, Rng& rng, RoundPlan& plan, std::vector<Decision>& out);
  void stop_movers(const View& view, Occupancy& planned, std::vector<Decision>& out);
  void plan_mixed(const View& view, Occupancy& planned, RoundPlan& plan);
  [[nodiscard]] std::vector<Member> members_of(const View& view, Occupancy& planned) const;
  [[nodiscard]] std::vector<GavelRounds::Candidate> candidates_of(
      const std::vector<Member>& members) const;
  [[nodiscard]] std::vector<GavelRounds::Pick> pick(
      const View& view, const Occupancy& planned,
      const std::vector<GavelRounds::Candidate>& candidates, Rng& rng) const;
  [[nodiscard]] std::set<JobId> settle(const std::vector<Member>& members,
                                       const std::vector<GavelRounds::Candidate>& candidates,
                                       const std::vector<GavelRounds::Pick>& picks,
                                       Occupancy& planned, RoundPlan& plan) const;
  [[nodiscard]] std::optional<Placement> find_on(const Occupancy& gpus, const JobSpec& job,
                                                 const std::string& type) const;
  [[nodiscard]] bool runs_on_one_type(JobId job) const;

  GavelOptions gavel_;
  PriceRouting routing_{false};
  Rounds rounds_;
  PolicyFacts facts_;
  std::vector<Type> types_;  // of this partition, by name
  std::vector<std::size_t> fastest_first_;
  std::optional<GavelRounds> accounts_;
  GavelFifo fifo_;
  std::map<JobId, Known> known_;
  std::vector<JobSpec> kinds_;                                               // one job of each
  std::map<std::pair<std::size_t, std::size_t>, GavelProblem::Pair> pairs_;  // of kinds
  std::vector<Together> together_;  // jobs that have an allocation together
  std::set<JobId> movers_;          // who this round stops to move
  bool changed_ = false;            // jobs came or went since the last allocation
  Instant last_seen_{};
  std::uint64_t observed_ = 0;  // calls at which a job was here
  std::optional<Restored> restored_;
};

}  // namespace starling
