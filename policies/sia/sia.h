// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "policies/partitions/price_routing.h"
#include "policies/queues/rounds.h"
#include "policies/sia/sia_goodputs.h"
#include "policies/sia/sia_grants.h"
#include "policies/sia/sia_program.h"
#include "policies/sia/sia_reasons.h"

namespace starling {

struct SiaOptions {
  Duration round = std::chrono::seconds(60);
  SiaObjective objective{};
  double restart_s = 30;  ///< that a change costs a job that does not say it itself
  SiaGoodputs::Options goodputs{};
  IntegerSolver solver = solve_integer;  ///< another for tests
};

/// Sia (SOSP 2023): at each round an integer program gives every job a number of GPUs of one type,
/// or none (SiaProblem), of those configurations that SiaGoodputs knows; then the jobs are placed
/// (place_grants). A job begins on its smallest size and has at most twice the most GPUs that it
/// has run on so far. A job that has run for less time than its restart costs stays as it is. Where
/// the program is not solved all do, and a job that waits gets its smallest size if that is free.
///
/// What a change costs a job that runs is the factor max(age - restarts x cost, 0) / (age + cost)
/// on the goodput of all that it does not have, from the age of one restart's cost on.
///
/// A gang that no single type of the partition can hold is outside of this, as in Gavel's: it waits
/// ten minutes, then the next round gives it GPUs of several types before all others, for good.
class SiaPolicy final : public Policy {
 public:
  explicit SiaPolicy(const SiaOptions& options);
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;
  [[nodiscard]] std::span<const TypePrice> prices() const override { return routing_.prices(); }
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override;
  /// When the round began, on how many GPUs each job has run, and what was measured.
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override;
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override;
  [[nodiscard]] std::uint64_t learned() const noexcept override {
    return rounds_.begun() + grown_ + goodputs_.version();
  }
  void learn() override { goodputs_.learn(); }

 private:
  /// Rows of one program: of more jobs some wait for a later round, or run on as they are.
  static constexpr std::size_t kMostRows = 1024;
  /// Of these, for jobs that wait, however many run.
  static constexpr std::size_t kRowsOfWaiting = kMostRows / 2;
  static constexpr std::size_t kMostKnown = 8192;
  struct Known {
    std::uint32_t most = 0;  // GPUs that it has run on
    Placement placement;     // when last seen, and how
    Allocation allocation;
    Instant since{};  // that it has been so
    bool seen = false;
  };
  void observe(const View& view);
  void see(const JobView& job, Instant now);
  [[nodiscard]] double factor_of(const JobView& job, Instant now) const;
  [[nodiscard]] bool may_change(const View& view, const JobView& job) const;
  [[nodiscard]] std::vector<const JobView*> members_of(const View& view, Occupancy& planned) const;
  [[nodiscard]] SiaProblem::Row row_of(const View& view, const JobView& job);
  void plan_mixed(const View& view, const JobView& job, Occupancy& planned, RoundPlan& plan) const;
  void set_capacity(const View& view, const Occupancy& planned, SiaProblem& problem) const;
  void plan_round(const View& view, RoundPlan& plan, std::vector<Decision>& out);
  [[nodiscard]] SiaAnswer solve(const View& view, const SiaProblem& problem,
                                const std::vector<const JobView*>& jobs);
  [[nodiscard]] std::vector<SiaGrant> grants_of(const SiaProblem& problem, const SiaAnswer& answer,
                                                const std::vector<const JobView*>& jobs,
                                                Occupancy& planned,
                                                std::vector<Decision>& out) const;
  void place_smaller(Occupancy& planned, SiaGrant& grant, const SiaProblem::Row& row) const;
  void carry_out(const View& view, std::vector<SiaGrant>& grants, RoundPlan& plan,
                 std::vector<Decision>& out);

  SiaOptions sia_;
  PolicyFacts facts_;
  PriceRouting routing_{true};
  Rounds rounds_;
  SiaGoodputs goodputs_;
  SiaReasons reasons_;
  std::map<JobId, Known> known_;
  std::uint64_t grown_ = 0;  // changes of any Known::most
};

}  // namespace starling
