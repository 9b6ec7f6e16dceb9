// SPDX-License-Identifier: Apache-2.0
// What a round of Pollux takes: all GPUs are in use, a few jobs wait, and the search divides anew.
// Arguments: servers of eight GPUs, running jobs.
#include <benchmark/benchmark.h>

#include <deque>
#include <vector>

#include "interference/models/speed_choice.h"
#include "policies/registry.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

class BusyCluster {
 public:
  BusyCluster(std::uint32_t servers, std::uint32_t jobs)
      : topology_(flat(servers)),
        speed_(make_speed({}, topology_, nullptr).value()),
        gpus_(topology_, {0, topology_.server_count()}, 1),
        policy_(make_policy_registry().make("pollux:knows=given").value()) {
    for (std::uint32_t i = 0; i < jobs; ++i) {
      JobView job = new_job();
      const std::uint32_t want = 1 + rng_.below(std::max(2 * topology_.gpu_count() / jobs, 2U) - 1);
      const auto server = gpus_.best_fit(std::min(want, 8U));
      if (server) job.placement = gpus_.free_gpus(*server, std::min(want, 8U));
      if (!server) job.placement = gpus_.lowest_free(1).value_or(Placement{});
      if (job.placement.empty()) break;
      gpus_.take(job.placement);
      running_.push_back(job);
    }
    for (int i = 0; i < 10; ++i) waiting_.push_back(new_job());
  }
  std::size_t decide() {
    now_ = later(now_, std::chrono::seconds(60));
    const View view{topology_, gpus_, waiting_, running_, {}, *speed_, now_, AgentId{0}};
    return policy_->decide(view, {TriggerKind::round}, rng_).size();
  }
  [[nodiscard]] std::size_t running() const { return running_.size(); }

 private:
  static Topology flat(std::uint32_t servers) {
    GeneratorOptions options;
    options.groups = {{servers, "V100"}};
    return generate_flat(options).value();
  }
  JobView new_job() {
    JobSpec& spec = specs_.emplace_back();
    spec.id = JobId{1, specs_.size()};
    spec.model = specs_.size() % 2 == 0 ? "resnet18" : "bert-base";
    spec.min_workers = 1;
    spec.max_workers = 16;
    JobView view;
    view.spec = &spec;
    view.submitted = now_;
    view.order = specs_.size();
    view.noise_scale = 200.0 + rng_.below(5000);
    view.served = std::chrono::seconds(rng_.below(36'000));
    return view;
  }

  Topology topology_;
  std::unique_ptr<SpeedModel> speed_;
  Occupancy gpus_;
  std::unique_ptr<Policy> policy_;
  Rng rng_{7};
  Instant now_ = Instant{} + std::chrono::hours(10);
  std::deque<JobSpec> specs_;
  std::vector<JobView> waiting_, running_;
};

void bm_round(benchmark::State& state) {
  BusyCluster cluster(static_cast<std::uint32_t>(state.range(0)),
                      static_cast<std::uint32_t>(state.range(1)));
  for (auto _ : state) benchmark::DoNotOptimize(cluster.decide());
  state.counters["running"] = static_cast<double>(cluster.running());
}
BENCHMARK(bm_round)
    ->Args({8, 40})
    ->Args({64, 200})
    ->Args({256, 1000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace starling
