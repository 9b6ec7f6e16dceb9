// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "policies/registry.h"
#include "policies/testing/policy_rig.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("Gavel says which part of its time a job has on which type, and how it goes by that") {
  for (const char* policy : {"gavel", "themis"}) {
    CAPTURE(policy);
    GeneratorOptions options;
    options.groups = {{1, "P100"}, {1, "V100"}};
    options.gpus_per_server = 4;
    PolicyRig rig(generate_flat(options).value(), make_policy_registry().make(policy).value());
    JobSpec wide;
    wide.workers = 4;
    wide.gpu_types = {"V100"};
    wide.duration = 10h;
    const JobId first = rig.submit(wide).spec->id;
    (void)rig.settle(TriggerKind::arrival);
    CHECK(rig.explain(first).at(1).starts_with(
        "  1.00 of its time on V100: has had 0 s there since; goes by "));
    rig.pass(60s);
    const JobId second = rig.submit(wide).spec->id;
    (void)rig.settle(TriggerKind::arrival);
    CHECK(rig.explain(second) ==
          std::vector<std::string>{
              "policy: it has no share of time yet: those are made at rounds, at least 1920 s "
              "apart; until then a round gives it what the others leave"});
    rig.pass(2000s);
    (void)rig.round();
    const auto lines = rig.explain(second);
    REQUIRE(lines.size() == 2);
    CAPTURE(lines[1]);
    CHECK(lines[0].starts_with("policy: shares were made at 2120 s; a round goes by "));
    CHECK(lines[1].starts_with("  0.5"));
    CHECK(lines[1].find(" of its time on V100: has had 0 s there since; goes by ") !=
          std::string::npos);
    CHECK(rig.explain(first).at(1).find(" s behind before; goes by ") != std::string::npos);
    CHECK(rig.explain(JobId{9, 9}).empty());
  }
}

TEST_CASE("Gavel says of a gang that no type holds how it gets GPUs") {
  GeneratorOptions options;
  options.groups = {{1, "P100"}, {1, "V100"}};
  options.gpus_per_server = 4;
  PolicyRig rig(generate_flat(options).value(), make_policy_registry().make("gavel").value());
  JobSpec wide;
  wide.workers = 8;
  const JobId id = rig.submit(wide).spec->id;
  (void)rig.settle(TriggerKind::arrival);
  CHECK(rig.explain(id).at(0).starts_with("policy: no single GPU type here holds it"));
}

}  // namespace
}  // namespace starling
