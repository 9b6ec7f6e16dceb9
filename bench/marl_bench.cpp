// SPDX-License-Identifier: Apache-2.0
// What one decision of the learned policy takes: in a full partition a job ends, another one has
// come, and the policy places it. Counters p50_us and p99_us are those of single calls of decide().
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "gnn/wiring/registry.h"
#include "interference/models/speed_choice.h"
#include "topology/generate/generate.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

class FullPartition {
 public:
  FullPartition(const Topology& topology, const std::string& text)
      : topology_(topology),
        speed_(make_speed({}, topology, nullptr).value()),
        gpus_(topology, {0, topology.server_count()}, 2) {
    PolicyRegistry registry = make_policy_registry();
    add_gnn_policies(registry);
    policy_ = registry.make(text).value();
    while (gpus_.free_count() > 32) {
      JobSpec& spec = new_job();
      auto where = gpus_.best_fit(spec.gpus());
      if (!where) break;
      begin(spec, gpus_.free_gpus(*where, spec.gpus()));
    }
  }
  /// One job ends and one comes. Returns what decide() took, in microseconds.
  double turn() {
    now_ = later(now_, std::chrono::seconds(30));
    const std::size_t ends = rng_.below(static_cast<std::uint32_t>(running_.size()));
    gpus_.give_back(running_[ends].placement);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(ends));
    JobView job;
    job.spec = &new_job();
    job.submitted = now_;
    job.order = ++order_;
    if (waiting_.size() > 8) waiting_.erase(waiting_.begin());
    waiting_.push_back(job);
    const View view{topology_, gpus_, waiting_, running_, {}, *speed_, now_, AgentId{0}};
    const auto began = std::chrono::steady_clock::now();
    const auto decisions = policy_->decide(view, {TriggerKind::arrival}, rng_);
    const auto took = std::chrono::steady_clock::now() - began;
    for (const Decision& decision : decisions) {
      const auto* start = std::get_if<Start>(&decision);
      if (start == nullptr) continue;
      const auto at = std::find_if(waiting_.begin(), waiting_.end(), [&](const JobView& view_of) {
        return view_of.spec->id == start->job;
      });
      const JobSpec& spec = *at->spec;
      waiting_.erase(at);
      begin(spec, start->placement);
    }
    return std::chrono::duration<double, std::micro>(took).count();
  }

 private:
  JobSpec& new_job() {
    const auto models = gavel_models();
    JobSpec& spec = specs_.emplace_back();
    spec.id = JobId{1, specs_.size()};
    const std::uint32_t sizes[] = {1, 1, 1, 2, 4, 8};
    spec.workers = sizes[rng_.below(6)];
    spec.model = models[rng_.below(static_cast<std::uint32_t>(models.size()))].name;
    return spec;
  }
  void begin(const JobSpec& spec, const Placement& placement) {
    JobView job;
    job.spec = &spec;
    job.submitted = now_;
    job.order = ++order_;
    job.placement = placement;
    gpus_.take(placement);
    running_.push_back(std::move(job));
  }

  Topology topology_;
  std::unique_ptr<SpeedModel> speed_;
  Occupancy gpus_;
  std::unique_ptr<Policy> policy_;
  std::deque<JobSpec> specs_;
  std::vector<JobView> running_, waiting_;
  std::uint64_t order_ = 0;
  Instant now_{};
  Rng rng_{7};
};

void decide(benchmark::State& state, const std::string& policy) {
  GeneratorOptions shape;
  shape.servers = static_cast<std::uint32_t>(state.range(0));
  shape.gpus_per_server = 8;
  FullPartition partition(generate_leaf_spine(shape).value(), policy);
  for (int i = 0; i < 50; ++i) (void)partition.turn();
  std::vector<double> times;
  for (auto _ : state) {
    times.push_back(partition.turn());
    state.SetIterationTime(times.back() / 1e6);
  }
  std::sort(times.begin(), times.end());
  state.counters["p50_us"] = times[times.size() / 2];
  state.counters["p99_us"] = times[times.size() * 99 / 100];
}

BENCHMARK_CAPTURE(decide, marl, "marl")->Arg(128)->Arg(1024)->Arg(12'500)->UseManualTime();
BENCHMARK_CAPTURE(decide, lif, "lif:threshold=0.3")->Arg(1024)->Arg(12'500)->UseManualTime();

}  // namespace
}  // namespace starling
