// SPDX-License-Identifier: Apache-2.0
#include "policies/drf/drf.h"

#include <queue>

#include "base/counted.h"
#include "policies/builtin.h"
#include "policies/elastic/elastic.h"
#include "policies/elastic/elastic_explain.h"
#include "policies/parts/evict.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{.name = "drf",
                             .summary = "elastic: equal dominant shares of GPUs and CPUs",
                             .family = Family::elastic,
                             .preemptive = true,
                             .elastic = true,
                             .round = std::chrono::seconds(600)};

/// Dominant resource fairness: the job with the smallest dominant share gets the next worker, ties
/// by submission. A job starts with the fewest workers that it can have.
class Drf final : public Division {
 public:
  void divide(const ElasticCall&, const ElasticCapacity& all, ElasticCapacity left,
              std::vector<ElasticShare>& shares) override {
    using Next = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    const auto push = [&](std::size_t i) {
      queue.emplace(dominant_share(all, *shares[i].job->spec, shares[i].workers), i);
    };
    for (std::size_t i = 0; i < shares.size(); ++i) push(i);
    while (!queue.empty()) {
      const std::size_t i = queue.top().second;
      ElasticShare& share = shares[i];
      queue.pop();
      const std::uint32_t more = share.workers == 0 ? share.least : 1;
      if (share.workers + more > share.most || !left.take(all, *share.job->spec, more)) continue;
      share.workers += more;
      push(i);
    }
  }
  [[nodiscard]] std::optional<Placement> find_workers(const ElasticCall& call,
                                                      const Occupancy& gpus, const JobSpec& job,
                                                      std::uint32_t workers) const override {
    JobSpec sized = job;
    sized.workers = workers;
    auto found = place(gpus, call.shape, sized, Fit::server);
    return found ? found : place(gpus, call.shape, sized, Fit::count);
  }
  [[nodiscard]] std::vector<std::string> explain_now(const ElasticCall& call,
                                                     const ElasticCapacity& all,
                                                     const ElasticShare& share) const override {
    if (share.workers == 0) return {explain_fewest(call, all, share)};
    const JobSpec& job = *share.job->spec;
    const std::int64_t own = dominant_share(all, job, share.workers);
    std::string line = "policy: it has " + workers_text(job, share.workers) +
                       ", a dominant share of " + share_text(own);
    if (share.workers >= share.most) return {line + ", and may not have more"};
    std::uint64_t less = 0;
    for (const JobView& other : call.view.running) {
      const auto gpus = static_cast<std::uint32_t>(other.placement.size());
      const std::uint32_t workers = gpus / std::max(other.spec->gpus_per_worker, 1U);
      if (lies_here(call.view.gpus, other.placement) &&
          dominant_share(all, *other.spec, workers) < own)
        ++less;
    }
    return {line + ", " + share_text(dominant_share(all, job, share.workers + 1)) +
            " with one more; the smallest share gets the next worker, and " +
            counted(less, "job has", "jobs have") + " a smaller one here"};
  }
  // It knows no durations, so it cannot know what a restart is worth.
  [[nodiscard]] bool worth_a_restart(const ElasticCall&, const ElasticShare&) override {
    return true;
  }
};

}  // namespace

std::unique_ptr<Division> make_drf_division() { return std::make_unique<Drf>(); }

void add_drf(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    ElasticOptions options = read_elastic(reader);
    // It does not know what GPUs elsewhere are worth: on average jobs end later by them
    // (docs/results/elastic-agents.md).
    options.grows = read_grows(reader, false);
    return std::unique_ptr<Policy>(
        std::make_unique<ElasticPolicy>(kFacts, options, std::make_unique<Drf>()));
  });
}

}  // namespace starling
