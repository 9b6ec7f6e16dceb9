// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "interference/profile.h"
#include "policies/builtin.h"
#include "policies/elastic/elastic.h"

namespace starling {
namespace {

constexpr PolicyFacts kDrf{.name = "drf",
                           .summary = "elastic: equal dominant shares of GPUs and CPUs",
                           .family = Family::elastic,
                           .preemptive = true,
                           .elastic = true,
                           .round = std::chrono::seconds(600)};
constexpr PolicyFacts kOptimus{
    .name = "optimus",
    .summary = "elastic: the next worker goes where it shortens a job the most",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .needs_durations = true,
    .round = std::chrono::seconds(600)};

struct ElasticOptions {
  Duration round{0};
  bool between = true;
};

/// Dominant resource fairness: whoever has the smallest dominant share gets the next worker, ties
/// by submission. A job starts with the fewest workers that it can have.
class Drf final : public ElasticPolicy {
 public:
  explicit Drf(const ElasticOptions& options)
      : ElasticPolicy({false, Fit::node}, options.between), facts_(kDrf) {
    facts_.round = options.round;
  }
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

 protected:
  void divide(const View&, const Capacity& all, Capacity left,
              std::vector<Share>& shares) override {
    using Next = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    const auto push = [&](std::size_t i) {
      queue.emplace(dominant_share(all, *shares[i].job->spec, shares[i].workers), i);
    };
    for (std::size_t i = 0; i < shares.size(); ++i) push(i);
    while (!queue.empty()) {
      const std::size_t i = queue.top().second;
      Share& share = shares[i];
      queue.pop();
      const std::uint32_t more = share.workers == 0 ? share.least : 1;
      if (share.workers + more > share.most || !take(left, all, *share.job->spec, more)) continue;
      share.workers += more;
      push(i);
    }
  }
  [[nodiscard]] std::optional<Placement> find_workers(const View&, const Occupancy& gpus,
                                                      const JobSpec& job,
                                                      std::uint32_t workers) const override {
    JobSpec sized = job;
    sized.workers = workers;
    auto found = place(gpus, shape(), sized, Fit::node);
    return found ? found : place(gpus, shape(), sized, Fit::count);
  }
  // It knows no durations, so it cannot know what a restart is worth.
  [[nodiscard]] bool worth_a_restart(const View&, const Share&) override { return true; }

 private:
  PolicyFacts facts_;
};

/// Optimus (EuroSys'18): everybody who fits gets the fewest workers, by submission; the others go
/// one by one to the job whose remaining time falls most per dominant share of a worker. What
/// remains of a job is its estimated duration, not its loss curve; how fast it is with more workers
/// is what the speed model says. The number of parameter servers is not its to choose.
///
/// Beyond the paper, whose jobs are about equally long and whose servers are alike: of what remains
/// no more than `horizon` counts, for a division does not last longer, and counting a week of rest
/// would give all that is spare to the longest jobs (horizon=0: all counts). Among placements on
/// the smallest number of servers the fullest are taken. Where a place makes the workers slower
/// than fewer of them elsewhere, the job gets fewer. Where there are several GPU types, the fastest
/// on which there is room is taken. Nobody is stopped to gain less than `restart`.
class Optimus final : public ElasticPolicy {
 public:
  Optimus(const ElasticOptions& options, double restart_s, double horizon_s)
      : ElasticPolicy({false, Fit::node}, options.between),
        facts_(kOptimus),
        restart_s_(restart_s),
        horizon_s_(horizon_s > 0 ? horizon_s : std::numeric_limits<double>::infinity()) {
    facts_.round = options.round;
  }
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

 protected:
  void divide(const View& view, const Capacity& all, Capacity left,
              std::vector<Share>& shares) override {
    using Next = std::pair<std::int64_t, std::int64_t>;  // gain, -index
    std::priority_queue<Next> queue;
    const auto push = [&](std::size_t i) {
      const Share& share = shares[i];
      if (share.workers == 0 || share.workers >= share.most) return;
      const double saved =
          (rest_s(view, share, share.workers) - rest_s(view, share, share.workers + 1)) *
          std::min(1.0, horizon_s_ / share.left_s);
      const auto cost = static_cast<double>(dominant_share(all, *share.job->spec, 1));
      const std::int64_t gain = std::llround(std::min(saved * 1e9 / cost, 1e15) * 1e3);
      if (gain > 0) queue.emplace(gain, -static_cast<std::int64_t>(i));
    };
    for (Share& share : shares) {
      if (share.workers == 0 && share.least <= share.most &&
          take(left, all, *share.job->spec, share.least))
        share.workers = share.least;
    }
    for (std::size_t i = 0; i < shares.size(); ++i) push(i);
    while (!queue.empty()) {
      const auto i = static_cast<std::size_t>(-queue.top().second);
      queue.pop();
      if (!take(left, all, *shares[i].job->spec, 1)) continue;
      ++shares[i].workers;
      push(i);
    }
  }
  [[nodiscard]] std::optional<Placement> find_workers(const View& view, const Occupancy& gpus,
                                                      const JobSpec& job,
                                                      std::uint32_t workers) const override {
    auto best = place_evenly(gpus, job, workers);
    const std::size_t types = gpus.topology().gpu_types().size();
    if (types > 1) {
      const JobProfile profile = profile_of(job, workers * job.gpus_per_worker);
      const auto relative = [&](const Placement& placement) {
        return std::llround(view.speed.speed(profile, placement, {}).relative * 1e6);
      };
      std::int64_t most = best ? relative(*best) : -1;
      for (std::size_t type = 0; type < types; ++type) {
        auto found = place_evenly(gpus, job, workers, GpuTypeId{static_cast<std::uint16_t>(type)});
        if (!found || relative(*found) <= most) continue;
        most = relative(*found);
        best = std::move(found);
      }
    }
    if (best) return best;
    JobSpec sized = job;
    sized.workers = workers;
    return place(gpus, shape(), sized, Fit::count);
  }
  [[nodiscard]] bool worth_a_restart(const View& view, const Share& share) override {
    return rest_s(view, share, share.now) - rest_s(view, share, share.workers) > restart_s_;
  }
  [[nodiscard]] bool knows_speeds() const override { return true; }
  [[nodiscard]] bool worth_a_move(const View& view, const Share& share,
                                  const Placement& to) const override {
    return rest_on_s(view, share, share.job->placement) - rest_on_s(view, share, to) > restart_s_;
  }
  [[nodiscard]] std::optional<Placement> choose(const View& view, const Occupancy& gpus,
                                                const Share& share) const override {
    std::optional<Placement> best;
    std::int64_t least = 0;
    for (std::uint32_t workers = share.workers; workers >= share.least && workers > 0; --workers) {
      auto found = find_workers(view, gpus, *share.job->spec, workers);
      if (!found) continue;
      const auto rest = std::llround(std::min(rest_on_s(view, share, *found), 1e12) * 1e3);
      if (best && rest > least) continue;
      least = rest;
      best = std::move(found);
    }
    return best;
  }

 private:
  PolicyFacts facts_;
  double restart_s_;
  double horizon_s_;
};

ElasticOptions read_elastic(OptionReader& reader) {
  ElasticOptions options;
  options.round = from_seconds(
      reader.number("round", 600, 1, 86'400,
                    "seconds; waiting jobs are given to other partitions at rounds alone"));
  options.between = reader.choice("between", {"start", "wait"},
                                  "start: jobs that fit start between rounds, too") == "start";
  return options;
}

}  // namespace

void add_elastic(PolicyRegistry& registry) {
  registry.add(kDrf, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const ElasticOptions options = read_elastic(reader);
    return std::unique_ptr<Policy>(std::make_unique<Drf>(options));
  });
  registry.add(kOptimus, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const ElasticOptions options = read_elastic(reader);
    const double restart =
        reader.number("restart", 60, 0, 86'400, "seconds that a change of size costs a job");
    const double horizon = reader.number("horizon", 3600, 0, 1e9,
                                         "seconds of what is left of a job that count; 0: all");
    return std::unique_ptr<Policy>(std::make_unique<Optimus>(options, restart, horizon));
  });
}

}  // namespace starling
