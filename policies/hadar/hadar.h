// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policies/elastic/division.h"
#include "policies/elastic/elastic_progress.h"
#include "policies/hadar/forked_copies.h"
#include "policies/hadar/gang_paces.h"
#include "policies/hadar/gang_queue.h"
#include "policies/partitions/price_routing.h"
#include "policies/queues/rounds.h"
#include "scheduling/queue_order.h"

namespace starling {

struct HadarOptions {
  Duration round = std::chrono::seconds(360);
  double restart_s = 10;  ///< that starting elsewhere costs a job that does not say it itself
  /// Of a job that takes C in all: 1/C, which is worth most of short jobs; its length over C, which
  /// is its mean pace; or what is left of it, squared, over C, which is worth most of long ones.
  enum class Utility : std::uint8_t { jct, throughput, makespan };
  Utility utility = Utility::jct;
  bool forks = false;     ///< HadarE: of jobs with RunDetails::copies several copies may run
  double efficiency = 1;  ///< progress of a sample where copies are averaged
};

/// Our reading of the abstracts of Hadar (IPDPS 2024) and HadarE (2025), of which no more is
/// public: every round the GPUs of every server have a price that grows with how many are taken,
/// each job asks where its utility is most above what it would pay (GpuMarket), and a dynamic
/// programme or, of many jobs, the order of what they pay says who is asked first (choose_gangs). A
/// gang may have GPUs of several types and is as fast as the slowest. A job that prices keep out
/// gets what is left all the same. Unchanged gangs keep their GPUs; less urgent jobs get what the
/// more urgent leave.
///
/// HadarE: jobs that may be forked (RunDetails::copies) then get further copies, each on a server
/// of its own, of what is left (ForkedCopies).
///
/// Of more than kMostPriced jobs the most urgent are asked, and of equally urgent ones those that
/// would gain most for each GPU and round at their fastest; the others go on while no job needs
/// their GPUs, and wait otherwise.
class HadarPolicy final : public Policy, public QueueOrder {
 public:
  static constexpr std::size_t kMostPriced = 1000;
  /// For which a job has no further copies once the core has refused them, as it does where an
  /// executor knows no allocations.
  static constexpr std::uint32_t kRoundsWithoutCopies = 100;

  explicit HadarPolicy(const HadarOptions& options);
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;
  [[nodiscard]] std::span<const TypePrice> prices() const override { return routing_.prices(); }
  [[nodiscard]] bool asks_first(const JobView& a, const JobView& b, Instant) const override {
    return a.spec->priority > b.spec->priority;
  }
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override;
  void refused(const Feedback& feedback) override;
  /// How much of each job is done, and when the round began.
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override;
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override;
  [[nodiscard]] std::uint64_t learned() const noexcept override {
    return progress_.version() + rounds_.begun();
  }

 private:
  /// Jobs of a round, and how the market sees them.
  struct Entry {
    const JobView* job;
    GangJob gang;
  };
  void observe(const View& view);
  void plan_round(const View& view, RoundPlan& plan, std::vector<Decision>& out);
  [[nodiscard]] std::vector<Entry> enter(const View& view, Occupancy& planned);
  [[nodiscard]] bool may_fork(const JobSpec& job) const;
  [[nodiscard]] Entry entry_of(const View& view, const JobView& job);
  [[nodiscard]] std::vector<PriceRange> price_ranges(const View& view,
                                                     const std::vector<Entry>& all) const;
  [[nodiscard]] std::vector<std::size_t> priced(const std::vector<Entry>& all, std::size_t first,
                                                std::size_t last, std::size_t most) const;
  [[nodiscard]] std::vector<ChosenGang> choose(const View& view, const std::vector<Entry>& all,
                                               Occupancy& planned);
  void settle(const View& view, const std::vector<Entry>& all,
              const std::vector<ChosenGang>& chosen, Occupancy planned, RoundPlan& plan,
              std::vector<Decision>& out);
  void note(const std::vector<Entry>& all, const std::vector<ChosenGang>& chosen);

  HadarOptions options_;
  PolicyFacts facts_;
  PriceRouting routing_{false};
  Rounds rounds_;
  ElasticProgress progress_;
  GangPaces paces_;
  ForkedCopies copies_;
  std::map<JobId, std::uint32_t> no_copies_;  // for so many rounds
  std::uint64_t speed_version_ = 0;
  std::map<JobId, std::string> why_;  // of the last round
};

}  // namespace starling
