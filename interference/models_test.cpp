// SPDX-License-Identifier: Apache-2.0
#include "interference/models.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "base/rng.h"
#include "interference/fitted.h"
#include "interference/gpu_speed.h"
#include "interference/profile.h"
#include "interference/sync.h"
#include "interference/uplink.h"
#include "topology/generate/generate.h"
#include "workload/catalogue.h"

using namespace starling;

namespace {

// Cores enough that spreading has no upside: then a farther tier can only be slower.
Topology leaf_spine(double cpus = 256) {
  GeneratorOptions options;
  options.servers = 16;
  options.servers_per_rack = 4;
  options.cpus = cpus;
  options.uplink_gbps = 50;
  return generate_leaf_spine(options).value();
}

Placement gpus(std::initializer_list<std::uint32_t> ids) {
  Placement out;
  for (const std::uint32_t id : ids) out.emplace_back(id);
  return out;
}

Placement random_placement(Rng& rng, const Topology& topology, std::vector<bool>& taken,
                           std::uint32_t count) {
  Placement out;
  while (out.size() < count) {
    const std::uint32_t g = rng.below(topology.gpu_count());
    if (taken[g]) continue;
    taken[g] = true;
    out.emplace_back(g);
  }
  std::sort(out.begin(), out.end());
  return out;
}

JobProfile random_job(Rng& rng, std::uint32_t count) {
  const auto models = catalogue();
  JobProfile job;
  job.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
  job.gpus = count;
  job.cpus_per_gpu = rng.chance(0.5) ? 0 : rng.uniform() * 12;
  return job;
}

}  // namespace

TEST_CASE("trace physics and flat speed: one everywhere, nothing to start") {
  const auto physics = make_trace_physics();
  CHECK(!physics->varies());
  CHECK(physics->rate({"vgg16", 2, 0}, gpus({0, 100}), {}) == 1);
  CHECK(physics->startup_s({"vgg16", 2, 0}) == 0);
  CHECK(make_flat_speed()->speed({"vgg16", 2, 0}, gpus({0, 100}), {}).relative == 1);
}

TEST_CASE(
    "a farther tier is never faster, for any model, and the nearest one is the best there is") {
  const Topology topology = leaf_spine();
  const auto physics = make_full_physics(topology);
  CHECK(physics->varies());
  for (const ModelProfile& model : catalogue()) {
    CAPTURE(model.name);
    const JobProfile job{std::string(model.name), 4, 0};
    const double island = physics->rate(job, gpus({0, 1, 2, 3}), {});
    const double server = physics->rate(job, gpus({0, 1, 4, 5}), {});
    const double rack = physics->rate(job, gpus({0, 1, 8, 9}), {});
    const double network = physics->rate(job, gpus({0, 1, 32, 33}), {});
    CHECK(island == doctest::Approx(1));
    CHECK(server < island);
    CHECK(rack < server);
    CHECK(network < rack);
    CHECK(network > 0);
    CHECK(physics->startup_s(job) >= 10);
    CHECK(physics->startup_s(job) <= 30);
  }
}

TEST_CASE(
    "any placement beside any jobs has a rate in (0, 1], and one more neighbour never speeds it "
    "up") {
  Rng rng(11);
  GeneratorOptions mixed;
  mixed.groups = {{8, "K80"}, {8, "V100"}, {8, "A100-80GB"}};
  mixed.cpus = 24;
  const Topology worlds[] = {leaf_spine(24), generate_fat_tree(mixed).value()};
  for (const Topology& topology : worlds) {
    const auto physics = make_full_physics(topology);
    const auto analytic = make_analytic_speed(topology);
    for (int round = 0; round < 300; ++round) {
      std::vector<bool> taken(topology.gpu_count());
      const std::uint32_t size = 1U << rng.below(6);
      const JobProfile job = random_job(rng, size);
      const Placement placement = random_placement(rng, topology, taken, size);
      Neighbours beside;
      double before = 1;
      double guess = 1;
      for (int n = 0; n < 12; ++n) {
        const double rate = physics->rate(job, placement, beside);
        const Speed speed = analytic->speed(job, placement, beside);
        REQUIRE(rate > 0);
        REQUIRE(rate <= before);
        REQUIRE(speed.relative > 0);
        REQUIRE(speed.relative <= guess);
        REQUIRE(speed.relative >= rate);  // the hidden factor only slows
        REQUIRE(speed.uncertainty >= 0);
        before = rate;
        guess = speed.relative;
        const std::uint32_t others = 1 + rng.below(4);
        beside.push_back({random_job(rng, others), random_placement(rng, topology, taken, others)});
      }
    }
  }
}

TEST_CASE("a neighbour counts by what it shares: cores, the NIC, or nothing") {
  const Topology topology = leaf_spine(16);
  const auto speed = make_analytic_speed(topology);
  const JobProfile vgg{"vgg16", 2, 1};
  const Placement apart = gpus({0, 8});
  const double alone = speed->speed(vgg, apart, {}).relative;
  // On another server; on the same one and within it; on the same one and across its NIC; asking
  // all its cores.
  CHECK(speed->speed(vgg, apart, {{vgg, gpus({16, 24})}}).relative == alone);
  CHECK(speed->speed(vgg, apart, {{vgg, gpus({1, 2})}}).relative == alone);
  CHECK(speed->speed(vgg, apart, {{vgg, gpus({1, 9})}}).relative < alone - 0.03);
  CHECK(speed->speed(vgg, apart, {{{"vgg16", 1, 31}, gpus({1})}}).relative < alone * 0.9);

  const auto physics = make_full_physics(topology);
  CHECK(physics->rate(vgg, apart, {{vgg, gpus({16, 24})}}) == physics->rate(vgg, apart, {}));
  CHECK(physics->rate(vgg, apart, {{vgg, gpus({1, 2})}}) < physics->rate(vgg, apart, {}));
}

TEST_CASE(
    "a gang moves at its slowest GPU, and speed counts from the fastest type of the data centre") {
  GeneratorOptions mixed;
  mixed.groups = {{2, "K80"}, {2, "V100"}};
  const Topology topology = generate_flat(mixed).value();
  const auto physics = make_full_physics(topology);
  const JobProfile one{"bert-base", 1, 0};
  CHECK(physics->rate(one, gpus({16}), {}) == doctest::Approx(1));
  CHECK(physics->rate(one, gpus({0}), {}) == doctest::Approx(gpu_speed_factor("K80")));
  const JobProfile two{"bert-base", 2, 0};
  CHECK(physics->rate(two, gpus({0, 16}), {}) < gpu_speed_factor("K80") + 0.01);
  CHECK(gpu_speed_factor("a100-80GB") == gpu_speed_factor("A100"));
  CHECK(gpu_speed_factor("G7") == 1);
}

TEST_CASE(
    "short of cores, a gang alone is slower than on its best placement and never better than 1") {
  const Topology topology = leaf_spine(8);
  const auto physics = make_full_physics(topology);
  const JobProfile job{"alexnet", 8, 0};
  const double packed = physics->rate(job, gpus({0, 1, 2, 3, 4, 5, 6, 7}), {});
  const double spread = physics->rate(job, gpus({0, 8, 16, 24, 32, 40, 48, 56}), {});
  CHECK(packed < spread);
  CHECK(spread <= 1);
}

TEST_CASE(
    "a server's share of the uplinks is the leaf's, evenly; a flat network has none to share") {
  for (const double gbps : uplink_share_gbps(leaf_spine()))
    CHECK(gbps == doctest::Approx(50));  // 4 x 50 / 4
  for (const double gbps : uplink_share_gbps(generate_flat({}).value())) CHECK(gbps > 1e9);
}

TEST_CASE("parameter servers: more of them help, a farther tier never does") {
  const Topology topology = leaf_spine();
  const auto speed = make_analytic_speed(topology);
  for (const ModelProfile& model : catalogue()) {
    CAPTURE(model.name);
    for (const std::uint32_t servers : {1U, 2U, 8U}) {
      const JobProfile job{std::string(model.name), 4, 0, servers, 0};
      double before = 1;
      for (const Placement& where :
           {gpus({0, 1, 2, 3}), gpus({0, 1, 4, 5}), gpus({0, 1, 8, 9}), gpus({0, 1, 32, 33})}) {
        const double relative = speed->speed(job, where, {}).relative;
        CHECK(relative > 0);
        CHECK(relative <= before);
        before = relative;
      }
    }
    const SyncPath path{8e9, 1e9, Tier::network};
    CHECK(synced_s(model, 0.1, 4, 2, 4, path) < synced_s(model, 0.1, 4, 2, 1, path));
  }
}

TEST_CASE(
    "fitted models: leaving the server costs, more bandwidth helps, more GPUs exchange more") {
  CHECK(fitted_syncs().size() == 8);
  for (const FittedSync& fit : fitted_syncs()) {
    CAPTURE(fit.model);
    REQUIRE(known_model(fit.model));
    const ModelProfile& model = model_profile(fit.model);
    CHECK(fitted_sync(model) == &fit);
    CHECK(fit.error <= 0.10);
    CHECK(fit.gamma >= 1);
    double before = 0;
    for (const std::size_t n : {1U, 2U, 4U, 8U, 16U, 64U}) {
      const double near = synced_s(model, 0.1, n, 1, 0, {3e9, 1e9, Tier::server});
      CHECK(near >= before);
      before = near;
      if (n < 2) continue;
      const double far = synced_s(model, 0.1, n, 2, 0, {3e9, 1e9, Tier::rack});
      CHECK(far > near);
      CHECK(synced_s(model, 0.1, n, 2, 0, {3e9, 4e9, Tier::rack}) < far);
    }
  }
  CHECK(fitted_sync(model_profile("vgg19")) == nullptr);
}

TEST_CASE("stragglers: none unless asked for, the same for a job, larger gangs wait longer") {
  const Topology topology = leaf_spine();
  const auto calm = make_full_physics(topology);
  const auto physics = make_full_physics(topology, {.straggler_sigma = 0.05});
  double one = 0;
  double eight = 0;
  for (std::uint64_t id = 1; id <= 500; ++id) {
    JobSpec spec;
    spec.model = "resnet50";
    spec.id = {7, id};
    const JobProfile job = profile_of(spec);
    REQUIRE(job.straggler_seed != 0);
    CHECK(calm->rate(job, gpus({0}), {}) == doctest::Approx(1));
    const double rate = physics->rate(job, gpus({0}), {});
    CHECK(rate == physics->rate(job, gpus({5}), {}));
    CHECK(rate < 1);
    one += rate / 500;
    const Placement all = gpus({0, 1, 2, 3, 4, 5, 6, 7});
    eight += physics->rate(job, all, {}) / calm->rate(job, all, {}) / 500;
  }
  CHECK(one == doctest::Approx(1 / (1 + 0.05 * 1.2533)).epsilon(0.01));
  CHECK(eight < one - 0.03);
  CHECK(physics->rate({"resnet50", 1, 0}, gpus({0}), {}) == doctest::Approx(1));
}

TEST_CASE("a profile holds the job's own part") {
  JobSpec spec;
  spec.model = "vit";
  spec.workers = 2;
  spec.gpus_per_worker = 4;
  spec.cpus_per_worker = 12;
  const JobProfile profile = profile_of(spec);
  CHECK(profile.model == "vit");
  CHECK(profile.gpus == 8);
  CHECK(profile.cpus_per_gpu == 3);
}

TEST_CASE("a one-GPU job in a full server is asked about in little time") {
  const auto physics = make_full_physics(leaf_spine());
  const JobProfile job{"resnet50", 1, 3};
  Neighbours beside;
  for (std::uint32_t g = 1; g < 8; ++g) beside.push_back({job, gpus({g})});
  const Placement mine = gpus({0});
  constexpr int rounds = 100'000;
  double sum = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) sum += physics->rate(job, mine, beside);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  CHECK(sum > 0);
  MESSAGE("one question with 7 neighbours: " << took.count() / rounds << " ns");
  CHECK(took.count() / rounds < 20'000);  // a broad bound: other programs may hold the machine
}
