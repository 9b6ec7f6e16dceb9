// SPDX-License-Identifier: Apache-2.0
// A policy as a shared library: jobs of few GPUs first, each on the server with the fewest free
// GPUs that has enough.
//   starling sim ... --policy ./smallest_first.so:largest=8
#include <algorithm>

#include "launch/wiring/plugin.h"

namespace {

using namespace starling;

class SmallestFirst final : public Policy {
 public:
  explicit SmallestFirst(OptionReader& options)
      : largest_(static_cast<std::uint32_t>(
            options.number("largest", 1024, 1, 1e6, "larger jobs wait for ever"))) {}

  static PolicyFacts plugin_facts() {
    PolicyFacts facts;
    facts.name = "smallest-first";
    facts.summary = "jobs of few GPUs first";
    return facts;
  }
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger&, Rng&) override {
    std::vector<const JobView*> jobs;
    for (const JobView& job : view.waiting) {
      if (!job.blocked && job.spec->gpus() <= largest_) jobs.push_back(&job);
    }
    std::stable_sort(jobs.begin(), jobs.end(), [](const JobView* a, const JobView* b) {
      return a->spec->gpus() < b->spec->gpus();
    });
    Occupancy gpus = view.gpus;  // what is left beside what this call has given away
    std::vector<Decision> decisions;
    for (const JobView* job : jobs) {
      const std::uint32_t wanted = job->spec->gpus();
      std::optional<Placement> placement;
      if (const auto server = gpus.best_fit(wanted)) {
        placement = gpus.free_gpus(*server, wanted);
      } else if (job->spec->gpus_per_worker == 1) {
        placement = gpus.lowest_free(wanted);
      }
      if (!placement) continue;
      gpus.take(*placement);
      decisions.push_back(Start{job->spec->id, *placement});
    }
    return decisions;
  }

 private:
  PolicyFacts facts_ = plugin_facts();
  std::uint32_t largest_;
};

}  // namespace

STARLING_POLICY_PLUGIN(SmallestFirst)
