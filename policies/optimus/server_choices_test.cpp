// SPDX-License-Identifier: Apache-2.0
#include "policies/optimus/server_choices.h"

#include <doctest/doctest.h>

#include <string>

#include "interference/models.h"
#include "interference/profile.h"
#include "policies/elastic/elastic_jobs_test.h"
#include "policies/testing/test_world.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

TEST_CASE("as many parameter servers are chosen as pay, within what the job allows") {
  const Topology topology = servers(2);
  const Occupancy gpus(topology, {0, 2});
  const auto speed = make_analytic_speed(topology);
  const View view{topology, gpus, {}, {}, {}, *speed, Instant{}, AgentId{0}};
  ServerChoices choices;
  JobSpec job;
  job.model = "vgg16";
  job.workers = 2;
  job.cpus_per_worker = 1;
  const Placement two = gpus.free_gpus(ServerId{0}, 2);
  CHECK(choices.best(view, job, two).as_asked());  // it trains by none
  job.run.max_servers = 16, job.run.server_cpus = 1;
  const Allocation how = choices.best(view, job, two);
  CHECK(how.workers == 2);
  CHECK(how.servers > 2);
  CHECK(how.servers <= 16);
  const JobProfile profile = profile_of(job);
  CHECK(speed->pace(profile, two, {}, how) > 1.2 * speed->pace(profile, two, {}, {}));
  for (std::uint32_t servers = 1; servers <= 16; ++servers) {
    CHECK(speed->pace(profile, two, {}, {2, servers, 0, 0, false}) <=
          speed->pace(profile, two, {}, how) * 1.001);
  }
  job.run.max_servers = 2;
  CHECK(choices.best(view, job, two).as_asked());  // as many as it has anyhow
  job.run.server_cpus = 0;                         // for nothing: more than workers are no gain
  job.run.max_servers = 16;
  CHECK(choices.best(view, job, two).as_asked());
}

TEST_CASE("Optimus that may choose servers ends jobs sooner, and leaves others as they are") {
  const Topology topology = servers(4);
  const PolicyRegistry registry = make_policy_registry();
  const auto physics = make_full_physics(topology, {});
  const auto model = make_true_speed(*physics);
  TestWorld::Options options;
  options.model = model.get();
  const char* models[] = {"vgg16", "resnet50", "bert-base"};
  const auto mean_s = [&](const char* policy, std::uint64_t seed, std::uint32_t max_servers) {
    Rng rng(seed);
    Trace trace;
    double at = 0;
    for (std::uint32_t i = 0; i < 40; ++i) {
      at += 120 * rng.exponential();
      TraceJob job = elastic(i + 1, at, 4, 600 + 3000 * rng.uniform());
      job.spec.model = models[rng.below(3)];
      job.spec.cpus_per_worker = 1;
      job.spec.run.max_servers = max_servers;
      job.spec.run.server_cpus = max_servers > 0 ? 1 : 0;
      trace.jobs.push_back(std::move(job));
    }
    TestWorld world(topology, registry, policy, options);
    world.run(trace);
    CHECK(world.faults.empty());
    return world.mean_jct_s();
  };
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const double asked = mean_s("optimus", seed, 8);
    const double chosen = mean_s("optimus:servers=free", seed, 8);
    MESSAGE("seed " << seed << ": mean JCT " << asked << " s, with servers chosen " << chosen
                    << " s, " << 100 * (1 - chosen / asked) << " % less");
    CHECK(chosen < asked);
    CHECK(mean_s("optimus:servers=free", seed, 0) == mean_s("optimus", seed, 0));
  }
}

}  // namespace
}  // namespace starling
