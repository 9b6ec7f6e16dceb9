// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/sizing_policy.h"

#include <doctest/doctest.h>

#include "policies/registry.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

TEST_CASE("a policy that sizes at random is shown what runs, whatever policy it is made of") {
  const PolicyRegistry registry = make_policy_registry();
  GeneratorOptions servers;
  servers.groups = {{2, "V100"}};
  const Topology topology = generate_flat(servers).value();
  for (const char* name : {"fifo", "srtf", "easy", "tiresias-las", "optimus"}) {
    CAPTURE(name);
    int sized = 0;
    SizingPolicy policy(
        registry.make(name).value(), std::chrono::seconds(1), Rng(1), [] { return true; },
        [&] { ++sized; });
    CHECK(policy.facts().needs_running);
    CHECK_FALSE(policy.facts().by_end);
    CHECK(policy.facts().name == name);

    JobSpec spec;
    spec.id = JobId{1, 1};
    spec.min_workers = 1;
    spec.max_workers = 8;
    JobView job;
    job.spec = &spec;
    job.placement = {GpuId{0}};
    Occupancy gpus(topology, {0, 2});
    gpus.take(job.placement);
    struct Equal final : SpeedModel {
      [[nodiscard]] Speed speed(const JobProfile&, const Placement&,
                                const Neighbours&) const override {
        return {};
      }
      [[nodiscard]] double scaling(const JobProfile&) const override { return 1; }
    } speed;
    const std::vector<JobView> waiting, running{job};
    int changes = 0;
    Rng rng(2);
    for (int minute = 1; minute <= 50; ++minute) {
      const Instant now = Instant{} + std::chrono::minutes(minute);
      const View view{topology, gpus, waiting, running, {}, speed, now, AgentId{0}};
      const int before = sized;
      const auto decisions = policy.decide(view, {TriggerKind::arrival}, rng);
      if (sized == before) continue;
      REQUIRE_FALSE(decisions.empty());
      const Decision& first = decisions.front();
      if (std::holds_alternative<Resize>(first) || std::holds_alternative<Preempt>(first))
        ++changes;
    }
    CHECK(changes > 10);
    CHECK(changes == sized);
  }
}

}  // namespace
}  // namespace starling
