#include <algorithm>
#include <map>
#include <queue>

#include "policies/builtin.h"
#include "policies/elastic.h"

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

/// Dominant resource fairness: whoever has the smallest dominant share gets the next worker, ties
/// by submission. A job starts with the fewest workers that it can have.
class Drf final : public ElasticPolicy {
 public:
  Drf(const QueueOptions& options, Duration round) : ElasticPolicy(options), facts_(kDrf) {
    facts_.round = round;
  }
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

 protected:
  void divide(const View&, const Capacity& all, std::vector<Share>& shares) override {
    Capacity left = all;
    using Next = std::pair<double, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    for (std::size_t i = 0; i < shares.size(); ++i) queue.emplace(0.0, i);
    while (!queue.empty()) {
      Share& share = shares[queue.top().second];
      const std::size_t i = queue.top().second;
      queue.pop();
      const std::uint32_t more = share.workers == 0 ? share.least : 1;
      if (share.workers + more > share.most || !take(left, all, *share.job->spec, more)) continue;
      share.workers += more;
      queue.emplace(dominant_share(all, *share.job->spec, share.workers), i);
    }
  }
  [[nodiscard]] std::optional<Placement> find_workers(const Occupancy& gpus, const JobSpec& job,
                                                      std::uint32_t workers) const override {
    JobSpec sized = job;
    sized.workers = workers;
    auto found = place(gpus, shape(), sized, Fit::node);
    return found ? found : place(gpus, shape(), sized, Fit::count);
  }

 private:
  PolicyFacts facts_;
};

/// Optimus (EuroSys'18): everybody who fits gets the fewest workers, by submission; the others go
/// one by one to the job whose remaining time falls most per dominant share of a worker. What
/// remains of a job is its estimated duration, not its loss curve.
class Optimus final : public ElasticPolicy {
 public:
  Optimus(const QueueOptions& options, Duration round) : ElasticPolicy(options), facts_(kOptimus) {
    facts_.round = round;
  }
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

 protected:
  void divide(const View& view, const Capacity& all, std::vector<Share>& shares) override {
    Capacity left = all;
    const auto gain = [&](const Share& share) {
      if (share.workers == 0 || share.workers >= share.most) return 0.0;
      const JobSpec& job = *share.job->spec;
      const double now = share.left_s / speed(view, job, share.workers);
      const double then = share.left_s / speed(view, job, share.workers + 1);
      return (now - then) / dominant_share(all, job, 1);
    };
    struct Next {
      double gain;
      std::size_t i;
      bool operator<(const Next& o) const { return gain != o.gain ? gain < o.gain : i > o.i; }
    };
    std::priority_queue<Next> queue;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (take(left, all, *shares[i].job->spec, shares[i].least)) {
        shares[i].workers = shares[i].least;
        if (const double g = gain(shares[i]); g > 0) queue.push({g, i});
      }
    }
    while (!queue.empty()) {
      const std::size_t i = queue.top().i;
      queue.pop();
      if (!take(left, all, *shares[i].job->spec, 1)) continue;
      ++shares[i].workers;
      if (const double g = gain(shares[i]); g > 0) queue.push({g, i});
    }
  }
  [[nodiscard]] std::optional<Placement> find_workers(const Occupancy& gpus, const JobSpec& job,
                                                      std::uint32_t workers) const override {
    if (auto found = place_evenly(gpus, job, workers)) return found;
    JobSpec sized = job;
    sized.workers = workers;
    return place(gpus, shape(), sized, Fit::count);
  }

 private:
  PolicyFacts facts_;
};

template <class P>
void add(PolicyRegistry& registry, const PolicyFacts& facts) {
  registry.add(
      facts,
      [&facts](const PolicyOptions& given) -> Result<std::unique_ptr<Policy>> {
        OptionReader reader(facts.name, given);
        const double round = reader.number("round", 600, 1, 86'400);
        if (const Status status = reader.status(); !status) return status.error();
        return std::unique_ptr<Policy>(
            std::make_unique<P>(QueueOptions{false, Fit::node}, from_seconds(round)));
      },
      "round=SECONDS (600)");
}

}  // namespace

void add_elastic(PolicyRegistry& registry) {
  add<Drf>(registry, kDrf);
  add<Optimus>(registry, kOptimus);
}

}  // namespace starling
