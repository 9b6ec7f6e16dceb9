// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <vector>

#include "policies/registry.h"
#include "scheduling/policy_memory.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

class AnySpeed final : public SpeedModel {
 public:
  [[nodiscard]] Speed speed(const JobProfile&, const Placement&, const Neighbours&) const override {
    return {1, 0};
  }
};

/// Jobs of one GPU that wait and have run before.
struct Home {
  explicit Home(std::uint32_t jobs) : specs(jobs), waiting(jobs) {
    for (std::uint32_t i = 0; i < jobs; ++i) {
      specs[i].id = JobId{1, i};
      waiting[i].spec = &specs[i];
      waiting[i].order = i;
      waiting[i].served = std::chrono::seconds(100 + i);
    }
  }
  void decide(Policy& policy) {
    const View view{topology, gpus, waiting, {}, {}, speed, Instant{}, AgentId{0}};
    Rng rng(1);
    (void)policy.decide(view, {}, rng);
  }
  static Topology server() {
    GeneratorOptions options;
    options.groups = {{1, "V100"}};
    return generate_flat(options).value();
  }
  Topology topology = server();
  Occupancy gpus{topology, {0, 1}};
  std::vector<JobSpec> specs;
  std::vector<JobView> waiting;
  AnySpeed speed;
};

TEST_CASE("Tiresias keeps no more than it takes up again") {
  const auto policy = make_policy_registry().make("tiresias-gittins").value();
  Home home(20'000);
  home.decide(*policy);
  const auto memory = policy->save(Instant{});
  CHECK(memory.size() <= kMostPolicyMemory);
  const auto next = make_policy_registry().make("tiresias-gittins").value();
  CHECK(next->restore(memory, Instant{}).ok());
}

}  // namespace
}  // namespace starling
