// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <variant>
#include <vector>

#include "policies/registry.h"
#include "policies/tiresias/gittins.h"
#include "scheduling/policy_memory.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

class EvenSpeed final : public SpeedModel {
 public:
  [[nodiscard]] Speed speed(const JobProfile&, const Placement&, const Neighbours&) const override {
    return {1, 0};
  }
};

/// What a home has learned whose jobs mostly end at once.
std::vector<std::byte> mostly_short() {
  ServiceHistory history;
  for (int i = 0; i < 40; ++i) history.add(0.001);
  for (int i = 0; i < 10; ++i) history.add(3000);
  MemoryWriter out;
  history.save(out);
  out.word(0);
  return out.take();
}

TEST_CASE("by the Gittins index a job is stopped after a round at the earliest") {
  GeneratorOptions options;
  options.groups = {{1, "V100"}};
  const Topology topology = generate_flat(options).value();
  const auto gpus = static_cast<std::uint32_t>(topology.gpu_count());
  Placement all;
  for (std::uint32_t g = 0; g < gpus; ++g) all.push_back(GpuId{g});
  std::vector<JobSpec> specs(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    specs[i].id = JobId{1, i};
    specs[i].workers = gpus;
  }
  for (const Duration served : {Duration(1us), Duration(59s), Duration(61s)}) {
    CAPTURE(served.count());
    const auto policy = make_policy_registry().make("tiresias-gittins").value();
    REQUIRE(policy->restore(mostly_short(), Instant{}).ok());
    std::vector<JobView> running(1), waiting(1);
    running[0].spec = &specs[0];
    running[0].served = served;
    running[0].placement = all;
    waiting[0].spec = &specs[1];
    waiting[0].order = 1;
    Occupancy occupancy(topology, {0, 1});
    occupancy.take(all);
    const EvenSpeed speed;
    const View view{topology, occupancy, waiting, running, {}, speed, Instant{}, AgentId{0}};
    Rng rng(1);
    const auto decisions = policy->decide(view, {}, rng);
    CHECK(decisions.empty() == (served < 60s));
    if (!decisions.empty()) CHECK(std::get<Preempt>(decisions[0]).job == specs[0].id);
  }
}

}  // namespace
}  // namespace starling
