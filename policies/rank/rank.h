// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policies/partitions/price_routing.h"
#include "policies/parts/job_memo.h"
#include "policies/queues/rounds.h"
#include "policies/rank/job_pairs.h"
#include "policies/rank/pair_rates.h"
#include "policies/rank/rank_curves.h"
#include "policies/rank/rank_lengths.h"
#include "policies/rank/rank_places.h"
#include "policies/rank/rank_reasons.h"
#include "policies/rank/rank_rule.h"

namespace starling {

/// What an operator lets a policy do with jobs that allow it.
enum class MayDo : std::uint8_t {
  place,   ///< start them, at the size that they ask for
  order,   ///< stop them, too
  resize,  ///< and change their size
};

struct RankOptions {
  Duration round = std::chrono::seconds(120);
  bool believes = false;        ///< users' estimates; else forecasts alone
  double restart_s = 25;        ///< that a change costs a job that does not say it itself
  double charge = 1;            ///< a change counts so many times what it costs
  double type_power = 0.6;      ///< type_costs()
  double patience_s = 172'800;  ///< after so long without GPUs no other passes a job any more
  MayDo may = MayDo::resize;
  std::optional<double> route_power = {};  ///< PriceRouting's
  bool overflows_between = false;          ///< Rounds::Steps
  bool shares = false;  ///< two jobs on the same GPUs, where that pays (choose_pairs())
  bool keeps = true;    ///< those who share GPUs are one in the next division
};

/// Elastic jobs by divide_by_rank(): at every round all GPUs are divided anew among all jobs;
/// between rounds, as jobs come and end, what is free is divided among those who wait or, where
/// none does, among those who run.
///
/// What a restart costs. Of a job that runs, every size and type that it does not have counts
/// (1 - c/h) of its speed: c seconds of a restart, in h seconds, which are what is left of it, at
/// most ten minutes; and to grow, or to change the type, must save it 2 c at least. So sizes do not
/// follow every turn of the ranks.
///
/// Where (RankPlaces). A job that keeps size and type keeps its place, but for one that saves it 2
/// c. A size whose place is slower than it would be in an empty partition is weighed against
/// smaller ones by what GPUs are worth in that round.
///
/// Rigid jobs (not elastic) have all their workers or none and, once they run, are never stopped
/// unless they say what a stop costs them (RunDetails::save, restore). A gang that no type of the
/// partition can hold gets GPUs of several types before all others once it has waited ten minutes.
/// No job waits for ever: one that has been without GPUs for the part w of its patience, in all, is
/// aged by w^3 (RankJob::aged); to the power of 3, because age in proportion to the wait lets long
/// jobs pass short ones hours before any has waited too long.
///
/// Two jobs on the same GPUs (RankOptions::shares): after a division choose_pairs() says whom to
/// put beside whom, with GPUs worth what the next in turn would have made of them; what pairs set
/// free is divided once more. Between rounds who waits may join who runs. A job that may not be
/// stopped may still have a job beside it.
///
/// Where more than kManyRunning jobs run, newcomers are offered the GPUs of others at most once in
/// kLookEach between rounds, as that looks at all who run.
///
/// Over partitions: PriceRouting, by which running jobs move, too, gangs over several partitions or
/// types among them, and OverflowRouting for whom a
/// round leaves out.
class RankPolicy final : public Policy {
 public:
  static constexpr std::size_t kManyRunning = 1000;
  static constexpr Duration kLookEach = std::chrono::seconds(10);

  /// `facts`: its name, and what it is; which of them follow from `options` is added here.
  RankPolicy(const RankOptions& options, PolicyFacts facts);
  explicit RankPolicy(const RankOptions& options);
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;
  [[nodiscard]] std::span<const TypePrice> prices() const override { return routing_.prices(); }
  [[nodiscard]] Instant ask_again_at() const override { return rounds_.ask_again_at(); }
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override;
  /// When the round began, how much of each job is done, and how long those took that ended.
  [[nodiscard]] std::vector<std::byte> save(Instant origin) const override;
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant origin) override;
  [[nodiscard]] std::uint64_t learned() const noexcept override {
    return rounds_.begun() + lengths_.version();
  }

 private:
  /// What is remembered of a job from call to call.
  struct Known {
    std::shared_ptr<const RankSpeeds> speeds;
    std::uint64_t model = 0;  // version that `speeds` are of
    double without_gpus_s = 0;
    Instant at{};                 // last seen
    bool waits = true;            // then
    Placement placement;          // then
    double pace = 0;              // there, with no job beside it
    std::uint32_t kind = 0;       // of PairRates
    std::uint64_t kinds = 0;      // version that `kind` is of
    std::optional<JobId> beside;  // who has the same GPUs
    bool planned = false;         // a plan was about it while it waited
    double left_s = 0;            // at the last round
  };
  /// A call of decide().
  struct Call {
    const View& view;             ///< without those that leave
    std::vector<Known*> running;  ///< by place in View::running
  };
  /// A job that a plan is about.
  struct Member {
    const JobView* job = nullptr;
    Known* known = nullptr;
    double left_s = 0, restart_s = 0;
    bool stoppable = true;
    bool stays = false;  // it runs, and keeps its place whatever is divided
    RankSize now = {};   // what it runs on, by its curve; gpus 0: it waits
    std::uint32_t type = 0;
    std::optional<std::size_t> partner = {};  // is to be on the same GPUs
    bool guest = false;                       // of that one
    /// What it could have of its own, while it has a partner.
    std::vector<std::span<const RankSize>> sizes = {};
  };
  /// Sizes of those who run are their own.
  struct Plan {
    explicit Plan(const Call& made_in) : call(made_in) {}
    const Call& call;
    std::vector<Member> members;
    RankProblem problem;
    std::deque<std::vector<RankSize>> own;
    RankAnswer answer;
    std::vector<JobPair> pairs;
  };
  [[nodiscard]] static std::vector<RankReasons::Got> got_of(
      const View& view, const Plan& plan, const std::vector<std::optional<Placement>>& to);
  /// Answers what is known of those who run, by their place in the view.
  [[nodiscard]] std::vector<Known*> observe(const View& view);
  [[nodiscard]] Known& known_of(const Call& call, const JobView& job);
  Known& see(const View& view, const JobView& job);
  [[nodiscard]] Member member_of(const Call& call, const JobView& job, bool as_planned = false);
  [[nodiscard]] bool may_leave(const View& view, const JobView& job) const;
  [[nodiscard]] bool may_stop(const View& view, const JobView& job) const;
  [[nodiscard]] bool is_mixed(const View& view, const Placement& placement) const;
  void add(Plan& plan, Member member) const;
  [[nodiscard]] RankJob job_of(const Member& member) const;
  void add_host(Plan& plan, Member member) const;
  void add_grower(Plan& plan, const Member& member) const;
  [[nodiscard]] static double saved_s(const Member& member, double pace);
  [[nodiscard]] std::vector<RankSize> charged(const Member& member, std::uint32_t type) const;
  void divide(Plan& plan);
  [[nodiscard]] bool shares(const View& view) const;
  [[nodiscard]] PairRate rate_of(const Plan& plan, std::uint32_t one, std::uint32_t other,
                                 std::uint32_t type, std::uint32_t gpus);
  [[nodiscard]] bool looks_for_hosts(const View& view);
  static void see_neighbours(const View& view, std::span<Known* const> running);
  void add_hosts(const RoundPlan& round, Plan& plan, bool as_planned);
  void keep_pairs(Plan& plan);
  void bind(Plan& plan, const JobPair& pair) const;
  void part(Plan& plan, const JobPair& pair) const;
  [[nodiscard]] double keep_gain(const Plan& plan, const JobPair& pair);
  void part_pairs(Plan& plan);
  void pair_up(Plan& plan);
  [[nodiscard]] std::vector<PairJob> pair_jobs(const Plan& plan) const;
  [[nodiscard]] static double moved(const Member& member);
  [[nodiscard]] static PairJob pair_job(const Plan& plan, std::size_t i, double worth_of_gpus);
  bool fix(Plan& plan, const std::vector<JobPair>& pairs, const std::vector<PairJob>& jobs,
           std::vector<std::uint32_t>& kept) const;
  [[nodiscard]] std::optional<Placement> place_of_pair(const Plan& plan, std::size_t host);
  void place_guests(const Plan& plan, bool held, std::vector<std::optional<Placement>>& to);
  static bool bring_to_guest(const Plan& plan, std::size_t host,
                             const std::vector<std::optional<Placement>>& to, RoundPlan& round,
                             std::vector<Decision>& out);
  static void bring_guests(const Plan& plan, const std::vector<std::optional<Placement>>& to,
                           RoundPlan& round, std::vector<Decision>& out);
  void plan_round(const Call& call, RoundPlan& round, std::vector<Decision>& out);
  void plan_mixed(const JobView& job, Plan& plan, RoundPlan& round);
  void between(const Call& call, RoundPlan& round, std::vector<Decision>& out);
  void grow(const Call& call, std::vector<Decision>& out);
  std::vector<RankReasons::Got> carry_out(const Plan& plan, RoundPlan& round,
                                          std::vector<Decision>& out);
  [[nodiscard]] std::optional<Placement> place_of(const Plan& plan, std::size_t i);
  [[nodiscard]] std::vector<std::size_t> take_stayers(const Plan& plan,
                                                      std::vector<std::size_t>& movers);
  void place_movers(const Plan& plan, const std::vector<std::size_t>& movers,
                    std::vector<std::optional<Placement>>& to);
  void move_stayers(const Plan& plan, const std::vector<std::size_t>& stayers, RoundPlan& round,
                    std::vector<Decision>& out, std::vector<Decision>& resizes);
  void bring(const View& view, const JobView& job, const std::optional<Placement>& to,
             RoundPlan& round, std::vector<Decision>& out, std::vector<Decision>& resizes) const;

  RankOptions options_;
  PolicyFacts facts_;
  PriceRouting routing_;
  Rounds rounds_;
  RankLengths lengths_;
  RankCurves curves_;
  RankPlaces places_;
  RankReasons reasons_;
  PairRates rates_;
  std::vector<double> costs_;  // type_costs()
  JobMemo<JobId, Known> known_;
  bool changed_ = false;  // since the last plan a job got other GPUs, or went
  Instant looked_{};      // when newcomers were last offered the GPUs of others
  bool held_ = false;     // in this round a gang over several types waits for what comes free
};

}  // namespace starling
