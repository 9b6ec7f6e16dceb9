// SPDX-License-Identifier: Apache-2.0
#include "policies/optimus/optimus.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "base/short_number.h"
#include "policies/builtin.h"
#include "policies/elastic/batches.h"
#include "policies/elastic/believed_curves.h"
#include "policies/elastic/elastic.h"
#include "policies/elastic/elastic_explain.h"
#include "policies/optimus/server_choices.h"
#include "policies/parts/restart.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "optimus",
    .summary = "elastic: the next worker goes where it shortens a job the most",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .lengths = LengthSource::estimates,
    .round = std::chrono::seconds(600)};

constexpr double kRestartS = 60, kHorizonS = 3600;

/// Optimus (EuroSys'18): everybody who fits gets the fewest workers, by submission; the others go
/// one by one to the job whose remaining time falls most per dominant share of a worker. What
/// remains of a job is its estimated duration, not its loss curve; how fast it is with more workers
/// is what the speed model says. The number of parameter servers is as the job asks, or with
/// servers=free the one that suits its workers (ServerChoices).
///
/// Beyond the paper, whose jobs are about equally long and whose servers are alike: of what remains
/// no more than `horizon` counts, for a division does not last longer, and counting a week of rest
/// would give all that is spare to the longest jobs (horizon=0: all counts). Among placements on
/// the smallest number of servers the fullest are taken. Where a place makes the workers slower
/// than fewer of them elsewhere, the job gets fewer. Where there are several GPU types, the fastest
/// on which there is room is taken. No job is stopped to gain less than `restart`, or what its job
/// says that it costs. With batch=free a job whose noise is known runs with the batch that suits
/// its workers (BatchChoices), and what more of them are worth is what they are worth with theirs.
/// With knows=measured a job that was measured, or whose kind was, is as fast as BelievedCurves
/// say.
class Optimus final : public Division {
 public:
  /// What is chosen beside workers, and how fast jobs are thought to be.
  struct Options {
    double restart_s = 0, horizon_s = 0;
    bool rebatches = false, chooses_servers = false, measured = false;
  };
  explicit Optimus(const Options& options)
      : rebatches_(options.rebatches),
        chooses_servers_(options.chooses_servers),
        measured_(options.measured),
        restart_s_(options.restart_s),
        horizon_s_(options.horizon_s > 0 ? options.horizon_s
                                         : std::numeric_limits<double>::infinity()) {}

  void divide(const ElasticCall& call, const ElasticCapacity& all, ElasticCapacity left,
              std::vector<ElasticShare>& shares) override {
    using Next = std::pair<std::int64_t, std::int64_t>;  // gain, -index
    std::priority_queue<Next> queue;
    const auto push = [&](std::size_t i) {
      const ElasticShare& share = shares[i];
      if (share.workers == 0 || share.workers >= share.most) return;
      const std::int64_t gain = gain_of(all, share, rest_s(call, share, share.workers),
                                        rest_s(call, share, share.workers + 1));
      if (gain > 0) queue.emplace(gain, -static_cast<std::int64_t>(i));
    };
    for (ElasticShare& share : shares) {
      if (share.workers == 0 && share.least <= share.most &&
          left.take(all, *share.job->spec, share.least))
        share.workers = share.least;
    }
    for (std::size_t i = 0; i < shares.size(); ++i) push(i);
    while (!queue.empty()) {
      const Next next = queue.top();
      const auto i = static_cast<std::size_t>(-next.second);
      queue.pop();
      if (!left.take(all, *shares[i].job->spec, 1)) continue;
      ++shares[i].workers;
      last_given_ = {next.first, shares[i].job->spec->id};
      push(i);
    }
  }
  [[nodiscard]] std::optional<Placement> find_workers(const ElasticCall& call,
                                                      const Occupancy& gpus, const JobSpec& job,
                                                      std::uint32_t workers) const override {
    return place_on_fastest(call, gpus, job, workers);
  }
  [[nodiscard]] Allocation allocation(const ElasticCall& call, const JobSpec& job,
                                      const Placement& placement) const override {
    if (chooses_servers_ && job.run.max_servers > 0)
      return servers_.best(call.view, job, placement);
    return rebatches_ ? batches_.best(call.view, job, placement) : Allocation{};
  }
  [[nodiscard]] std::vector<std::string> explain_now(const ElasticCall& call,
                                                     const ElasticCapacity& all,
                                                     const ElasticShare& share) const override {
    if (share.workers == 0) return {explain_fewest(call, all, share)};
    std::string line = "policy: it has " + workers_text(*share.job->spec, share.workers);
    if (share.workers >= share.most) return {line + ", and may not have more"};
    const auto now = rest_when_empty_s(call, share, share.workers);
    const auto more = rest_when_empty_s(call, share, share.workers + 1);
    if (!now || !more) return {line + "; there is no place for one more"};
    line += "; one more counts " + gain_text(gain_of(all, share, *now, *more)) +
            ", the seconds that it saves over the part of the partition that it takes";
    if (last_given_.gain > 0)
      line += "; the last one given counted " + gain_text(last_given_.gain) + ", at job " +
              to_string(last_given_.job);
    return {line};
  }
  [[nodiscard]] bool worth_a_restart(const ElasticCall& call, const ElasticShare& share) override {
    return rest_s(call, share, share.now) - rest_s(call, share, share.workers) >
           restart_cost_s(*share.job->spec, restart_s_);
  }
  [[nodiscard]] bool knows_speeds() const override { return true; }
  void observe(const View& view) override {
    if (measured_) curves_.observe(view);
  }
  void save(MemoryWriter& out) const override { curves_.save(out); }
  void restore(MemoryReader& in) override { curves_.restore(in); }
  [[nodiscard]] std::uint64_t learned() const noexcept override { return curves_.version(); }
  void learn() override { curves_.learn(); }
  [[nodiscard]] bool no_sooner(const ElasticCall& call, const ElasticShare& share) override {
    return rest_s(call, share, share.workers) >= rest_s(call, share, share.now);
  }
  [[nodiscard]] bool worth_a_move(const ElasticCall& call, const ElasticShare& share,
                                  const Placement& to) const override {
    const JobView& job = *share.job;
    return rest_by_s(call, share, job.placement, job.allocation) - rest_on_s(call, share, to) >
           restart_cost_s(*job.spec, restart_s_);
  }
  [[nodiscard]] double gained_s(const ElasticCall& call, const ElasticShare& share,
                                const Placement& to, double horizon_s) const override {
    const JobView& job = *share.job;
    const double now = rest_by_s(call, share, job.placement, job.allocation);
    return std::min(now, horizon_s) * (1 - rest_on_s(call, share, to) / now);
  }
  [[nodiscard]] double restart_s(const JobSpec& job) const override {
    return restart_cost_s(job, restart_s_);
  }
  [[nodiscard]] std::optional<Placement> choose(const ElasticCall& call, const Occupancy& gpus,
                                                const ElasticShare& share) const override {
    std::optional<Placement> best;
    std::int64_t least = 0;
    for (std::uint32_t workers = share.workers; workers >= share.least && workers > 0; --workers) {
      auto found = find_workers(call, gpus, *share.job->spec, workers);
      if (!found) continue;
      const auto rest = std::llround(std::min(rest_on_s(call, share, *found), 1e12) * 1e3);
      if (best && rest > least) continue;
      least = rest;
      best = std::move(found);
    }
    return best;
  }

 private:
  /// A worker beyond the fewest of its job.
  struct Given {
    std::int64_t gain = 0;  // 0: none yet
    JobId job;
  };
  /// What one more worker counts: seconds saved over the part of the partition that it is, times
  /// 1000.
  [[nodiscard]] std::int64_t gain_of(const ElasticCapacity& all, const ElasticShare& share,
                                     double rest_now_s, double rest_more_s) const {
    const double saved = (rest_now_s - rest_more_s) * std::min(1.0, horizon_s_ / share.left_s);
    const auto cost = static_cast<double>(dominant_share(all, *share.job->spec, 1));
    return std::llround(std::min(saved * 1e9 / cost, 1e15) * 1e3);
  }
  [[nodiscard]] static std::string gain_text(std::int64_t gain) {
    return short_number(std::round(static_cast<double>(gain) / 1e3));
  }
  /// As rest_s() reckons it, without remembering; none where so many have no place.
  [[nodiscard]] std::optional<double> rest_when_empty_s(const ElasticCall& call,
                                                        const ElasticShare& share,
                                                        std::uint32_t workers) const {
    const auto there = find_workers(call, call.empty, *share.job->spec, workers);
    return there ? std::optional(rest_on_s(call, share, *there)) : std::nullopt;
  }
  [[nodiscard]] double rest_s(const ElasticCall& call, const ElasticShare& share,
                              std::uint32_t workers) {
    if (measured_ && curves_.knows(*share.job->spec)) {
      if (const auto there = places_.of(*this, call, *share.job->spec, workers))
        return rest_on_s(call, share, *there);
    }
    return speeds_.rest_s(*this, call, share, workers);
  }

  [[nodiscard]] double rest_on_s(const ElasticCall& call, const ElasticShare& share,
                                 const Placement& there) const {
    return rest_by_s(call, share, there, allocation(call, *share.job->spec, there));
  }
  [[nodiscard]] double rest_by_s(const ElasticCall& call, const ElasticShare& share,
                                 const Placement& there, const Allocation& how) const {
    if (measured_) {
      if (const auto pace = curves_.pace(call.view, *share.job->spec, there, how))
        return share.left_s / std::max(*pace, 1e-9);
    }
    return ElasticSpeeds::rest_on_s(call.view, share, there, how);
  }

  ElasticSpeeds speeds_;
  ElasticPlaces places_;
  BelievedCurves curves_;
  mutable BatchChoices batches_;  // of what was asked, so that asking again is cheap
  mutable ServerChoices servers_;
  Given last_given_;
  bool rebatches_, chooses_servers_, measured_;
  double restart_s_;
  double horizon_s_;
};

}  // namespace

std::unique_ptr<Division> make_optimus_division() {
  return std::make_unique<Optimus>(Optimus::Options{kRestartS, kHorizonS, false, true, false});
}

void add_optimus(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    ElasticOptions options = read_elastic(reader);
    options.grows = read_grows(reader, true);
    const double restart =
        reader.number("restart", kRestartS, 0, 86'400,
                      "seconds that a change of size costs a job that does not say it itself");
    const double horizon = reader.number("horizon", kHorizonS, 0, 1e9,
                                         "seconds of what is left of a job that count; 0: all");
    PolicyFacts facts = kFacts;
    facts.rebatches =
        reader.choice("batch", {"asked", "free"},
                      "free: of jobs whose noise is known also the batch is chosen") == "free";
    const bool servers =
        reader.choice("servers", {"asked", "free"},
                      "free: of jobs with max_servers also the number of parameter servers is "
                      "chosen") == "free";
    facts.reads_pace = reader.choice("knows", {"model", "measured"},
                                     "how fast a job is at any size: what the speed model says, or "
                                     "the curve fitted to what it was measured at") == "measured";
    return std::unique_ptr<Policy>(std::make_unique<ElasticPolicy>(
        facts, options,
        std::make_unique<Optimus>(
            Optimus::Options{restart, horizon, facts.rebatches, servers, facts.reads_pace})));
  });
}

}  // namespace starling
