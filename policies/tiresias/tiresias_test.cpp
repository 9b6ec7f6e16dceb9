// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <variant>
#include <vector>

#include "policies/parts/service_history.h"
#include "policies/registry.h"
#include "policies/testing/policy_rig.h"
#include "scheduling/policy_memory.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

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
  JobSpec all;
  all.workers = static_cast<std::uint32_t>(topology.gpu_count());
  for (const Duration served : {Duration(1us), Duration(59s), Duration(61s)}) {
    CAPTURE(served.count());
    PolicyRig rig(topology, make_policy_registry().make("tiresias-gittins").value());
    REQUIRE(rig.policy->restore(mostly_short(), Instant{}).ok());
    rig.submit(all);
    rig.round();
    REQUIRE(rig.jobs[0].placement.size() == all.workers);
    rig.pass(served);
    rig.submit(all);
    const auto decisions = rig.decide(TriggerKind::arrival);
    CHECK(decisions.empty() == (served < 60s));
    if (!decisions.empty()) CHECK(std::get<Preempt>(decisions[0]).job == rig.jobs[0].spec->id);
  }
}

}  // namespace
}  // namespace starling
