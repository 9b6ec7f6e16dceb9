// SPDX-License-Identifier: Apache-2.0
// Whom a gang over several partitions could share GPUs with, as the owner of one of them sees it.
#include <doctest/doctest.h>

#include <deque>

#include "policies/candidates/candidates.h"
#include "policies/registry.h"
#include "policies/testing/battery.h"
#include "policies/testing/test_placements.h"

namespace starling {
namespace {

/// Two servers of four GPUs, where jobs run.
class Here {
 public:
  Here()
      : topology(generate_flat({.servers = 2, .gpus_per_server = 4}).value()),
        speed(topology),
        gpus(topology, {0, 2}, 2) {
    gang.model = "resnet50";
    gang.workers = 8;
  }
  void run(const char* model, Placement placement, double memory_gib = 0) {
    JobSpec& spec = specs.emplace_back();
    spec.id = JobId{1, specs.size()};
    spec.model = model;
    spec.workers = static_cast<std::uint32_t>(placement.size());
    spec.memory_gib_per_worker = memory_gib;
    gpus.take(placement);
    JobView& job = running.emplace_back();
    job.spec = &spec;
    job.order = specs.size();
    job.placement = std::move(placement);
  }
  [[nodiscard]] View view() const {
    return {topology, gpus, {}, running, {}, speed, Instant{}, AgentId{0}};
  }
  std::vector<CoTenant> found(std::size_t most = 10) {
    const View now = view();
    return candidates.sync(now, true).co_tenants(gang, most);
  }
  Topology topology;
  CrowdedSpeed speed;
  Occupancy gpus;
  std::deque<JobSpec> specs;
  std::vector<JobView> running;
  JobSpec gang;
  CandidateMemory candidates;
};

TEST_CASE("a gang could share with each job that is alone on its GPUs, the cheapest first") {
  Here here;
  here.run("vgg16", range(0, 2));
  here.run("resnet50", range(4, 6));
  const auto found = here.found();
  REQUIRE(found.size() == 2);
  CHECK(found[0].job == here.specs[1].id);
  CHECK(found[0].gpus == range(4, 6));
  CHECK(found[0].speed == doctest::Approx(0.5));
  CHECK(found[0].loss == doctest::Approx(1));
  CHECK(found[1].job == here.specs[0].id);
  CHECK(found[1].speed == doctest::Approx(0.1));
  CHECK(found[1].loss == doctest::Approx(1.8));
  CHECK(here.found(1).size() == 1);
}

TEST_CASE("only GPUs with one job count, in whole workers of the gang") {
  Here here;
  here.run("resnet50", range(0, 4));
  here.run("resnet50", range(3, 4));
  here.gang.workers = 4;
  here.gang.gpus_per_worker = 2;
  const auto found = here.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].gpus == range(0, 2));
}

TEST_CASE("a gang shares with no job whose memory it does not fit, or if it asks for means") {
  Here here;
  here.run("resnet50", range(0, 2));
  REQUIRE(here.found().size() == 1);
  here.gang.memory_gib_per_worker = 1;
  CHECK(here.found().empty());
  here.gang.memory_gib_per_worker = 0;
  here.gang.gpu_types = {"nobody's"};
  CHECK(here.found().empty());
}

TEST_CASE("a policy offers and takes GPUs to share if it is told to") {
  Here here;
  here.run("resnet50", range(0, 2));
  for (const bool shares : {false, true}) {
    CAPTURE(shares);
    auto policy = make_policy_registry()
                      .make(shares ? "lif:threshold=0.3,gangs=shared" : "lif:threshold=0.3")
                      .value();
    CHECK(policy->co_tenants(here.view(), here.gang, 10).size() == (shares ? 1U : 0U));
    JobView waits;
    waits.spec = &here.gang;
    waits.order = 77;
    const std::vector<CoTenant> offered{{JobId{1, 1}, range(0, 8), 1, 0}};
    // It has not asked for them.
    CHECK(policy->choose_tenants(here.view(), waits, 0, offered).empty());
  }
}

}  // namespace
}  // namespace starling
