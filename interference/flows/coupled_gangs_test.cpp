// SPDX-License-Identifier: Apache-2.0
#include "interference/flows/coupled_gangs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "interference/sync.h"
#include "topology/generate/generate.h"
#include "workload/catalogue.h"

using namespace starling;

namespace {

// Racks of 4 servers of 2 GPUs; `spines` uplinks of a NIC's speed each.
Topology leaf_spine(std::uint32_t spines) {
  GeneratorOptions options;
  options.servers = 16;
  options.servers_per_rack = 4;
  options.gpus_per_server = 2;
  options.gpus_per_island = 2;
  options.cpus = 256;
  options.nic_gbps = 25;
  options.spines = spines;
  options.uplink_gbps = 25;
  return generate_leaf_spine(options).value();
}

// On the first GPU of each of these servers.
Placement on(std::initializer_list<std::uint32_t> servers) {
  Placement out;
  for (const std::uint32_t s : servers) out.emplace_back(2 * s);
  return out;
}

JobProfile vgg(std::uint32_t gpus) { return {"vgg16", gpus, 0}; }

constexpr double kNic = 25e9 / 8 * kNetworkShare;

}  // namespace

TEST_CASE("flows of a gang: a rack is left once and entered once, by all ports together") {
  const Topology topology = leaf_spine(1);
  GangFlows flows(topology);
  std::vector<LinkUse> uses;
  flows.find({0, 1}, on({0, 1, 2}), false, uses);
  CHECK(uses.empty());  // one rack
  flows.find({0, 1}, on({0, 1, 4, 5, 8}), false, uses);
  REQUIRE(uses.size() == 6);  // three racks, up and down each
  for (const LinkUse& use : uses) CHECK(use.weight == 1);
  // Parameter servers: of what a server sends, a third goes to each of the other three.
  flows.find({0, 1}, on({0, 1, 4, 5}), true, uses);
  REQUIRE(uses.size() == 4);
  for (const LinkUse& use : uses) CHECK(use.weight == doctest::Approx(4.0 / 3));
}

TEST_CASE("domains speak through all their servers, so a NIC's part of it is on each way") {
  GeneratorOptions options;
  options.racks = 2;
  options.spines = 1;
  const Topology topology = generate_nvl72(options).value();
  GangFlows flows(topology);
  std::vector<LinkUse> uses;
  Placement all;
  for (std::uint32_t gpu = 0; gpu < topology.gpu_count(); ++gpu) all.emplace_back(gpu);
  flows.find({0, 1}, all, false, uses);
  REQUIRE(uses.size() == 4);
  for (const LinkUse& use : uses) CHECK(use.weight == doctest::Approx(1));
}

TEST_CASE("two gangs on one uplink halve each other; a gang within a rack is not coupled") {
  const Topology topology = leaf_spine(1);
  const auto physics = make_flow_physics(topology);
  const auto gangs = physics->gangs();
  gangs->join(0, {0, 1}, vgg(2), on({0, 4}));
  REQUIRE(gangs->share(0) != nullptr);
  CHECK(*gangs->share(0) == NetworkShare{kNic, 0, 0});
  // Of the NIC what latency leaves it.
  CHECK(gangs->rate(0) <= kNic);
  CHECK(gangs->rate(0) > 0.99 * kNic);
  const double alone = physics->rate(vgg(2), on({0, 4}), {}, *gangs->share(0));
  gangs->join(1, {0, 2}, vgg(2), on({1, 2}));
  CHECK(gangs->share(1) == nullptr);
  CHECK(gangs->changed().empty());
  gangs->join(2, {0, 3}, vgg(2), on({3, 9}));
  CHECK(gangs->rate(0) == kNic / 2);
  CHECK(gangs->rate(2) == kNic / 2);
  REQUIRE(gangs->changed().size() == 1);
  CHECK(gangs->changed()[0] == 0);
  // Two gradients of VGG-16 over half of the link.
  const double bytes = model_profile("vgg16").gradient_mib * 1048576;
  CHECK(gangs->share(0)->sync_s == doctest::Approx(bytes / (kNic / 2)));
  CHECK(physics->rate(vgg(2), on({0, 4}), {}, *gangs->share(0)) < 0.8 * alone);
  gangs->leave(1);
  CHECK(gangs->changed().empty());
  gangs->leave(2);
  CHECK(gangs->share(2) == nullptr);
  CHECK(physics->rate(vgg(2), on({0, 4}), {}, *gangs->share(0)) == alone);
}

TEST_CASE("alone on a link that is as fast as the NICs, a gang has the speed of one rack") {
  const Topology topology = leaf_spine(1);
  const auto physics = make_flow_physics(topology);
  const auto gangs = physics->gangs();
  gangs->join(0, {0, 1}, vgg(2), on({0, 4}));
  const double across = physics->rate(vgg(2), on({0, 4}), {}, *gangs->share(0));
  // But for the latency of the spine; an even part of the uplink would be a quarter of it.
  CHECK(across == doctest::Approx(physics->rate(vgg(2), on({0, 1}), {})).epsilon(0.01));
  CHECK(across > 1.5 * physics->rate(vgg(2), on({0, 4}), {}));
}

TEST_CASE("without a network no gang is coupled, and rates are those of the full physics") {
  Topology::Parts parts = leaf_spine(1).parts();
  parts.nodes.clear();
  parts.links.clear();
  const Topology topology(parts);
  const auto flows = make_flow_physics(topology);
  const auto full = make_full_physics(topology);
  const auto gangs = flows->gangs();
  gangs->join(0, {0, 1}, vgg(2), on({0, 4}));
  CHECK(gangs->share(0) == nullptr);
  CHECK(flows->rate(vgg(2), on({0, 4}), {}) == full->rate(vgg(2), on({0, 4}), {}));
}

TEST_CASE("the worst timing costs what the best one has room for") {
  const Topology topology = leaf_spine(1);
  const auto worst = make_flow_physics(topology, {}, LinkDemand::peak);
  const auto best = make_flow_physics(topology, {}, LinkDemand::mean);
  const auto at_worst = worst->gangs();
  const auto at_best = best->gangs();
  const auto rate = [&](const auto& physics, const auto& gangs, std::uint32_t gang,
                        const JobProfile& job, const Placement& where) {
    return physics->rate(job, where, {}, *gangs->share(gang));
  };
  // An exchange that is short beside its computing: two find room between each other's.
  const JobProfile small{"densenet121", 2, 0};
  const Placement one = on({0, 4});
  const Placement two = on({1, 5});
  at_worst->join(0, {0, 1}, small, one);
  at_best->join(0, {0, 1}, small, one);
  const double alone = rate(worst, at_worst, 0, small, one);
  CHECK(rate(best, at_best, 0, small, one) == alone);
  at_worst->join(1, {0, 2}, small, two);
  at_best->join(1, {0, 2}, small, two);
  CHECK(rate(worst, at_worst, 0, small, one) < alone);
  CHECK(rate(best, at_best, 0, small, one) == alone);
  // Where even the sums do not fit both slow down, the best timing never more than the worst.
  for (std::uint32_t gang = 2; gang < 6; ++gang) {
    const Placement where = on({gang % 4, 4 + gang % 4});
    at_worst->join(gang, {0, 1 + gang}, vgg(2), where);
    at_best->join(gang, {0, 1 + gang}, vgg(2), where);
    for (std::uint32_t other = 0; other <= gang; ++other) {
      const JobProfile& job = other < 2 ? small : vgg(2);
      const Placement its = on({other % 4, 4 + other % 4});
      CHECK(rate(best, at_best, other, job, its) >= rate(worst, at_worst, other, job, its));
    }
  }
  CHECK(rate(best, at_best, 5, vgg(2), on({1, 5})) < 0.8 * alone);
}

TEST_CASE(
    "random gangs: no link carries more than it can, rates are in (0, 1], and it is the same "
    "as if only those that are there had ever come") {
  Rng rng(7);
  const Topology topology = leaf_spine(2);
  for (const LinkDemand demand : {LinkDemand::peak, LinkDemand::mean}) {
    const auto physics = make_flow_physics(topology, {}, demand);
    const auto gangs = physics->gangs();
    struct Runs {
      JobProfile job;
      Placement where;
    };
    std::map<std::uint32_t, Runs> there;
    GangFlows flows(topology);
    for (int step = 0; step < 600; ++step) {
      const std::uint32_t gang = rng.below(12);
      if (there.erase(gang) > 0) {
        gangs->leave(gang);
      } else {
        Placement where;
        const std::uint32_t step_by = 1 + rng.below(5);
        for (std::uint32_t gpu = rng.below(8); gpu < topology.gpu_count(); gpu += step_by)
          where.emplace_back(gpu);
        const auto models = catalogue();
        const auto& model = models[rng.below(static_cast<std::uint32_t>(models.size()))];
        JobProfile job{std::string(model.name), static_cast<std::uint32_t>(where.size()), 0};
        if (rng.chance(0.3)) job.parameter_servers = job.gpus;
        gangs->join(gang, {1, gang}, job, where);
        there[gang] = {job, where};
      }
      const auto fresh = physics->gangs();
      std::map<std::uint32_t, double> used;
      for (const auto& [other, runs] : there) fresh->join(other, {1, other}, runs.job, runs.where);
      for (const auto& [other, runs] : there) {
        const NetworkShare* share = gangs->share(other);
        REQUIRE((share == nullptr) == (fresh->share(other) == nullptr));
        if (share == nullptr) continue;
        REQUIRE(*share == *fresh->share(other));
        const double rate = physics->rate(runs.job, runs.where, {}, *share);
        REQUIRE(rate > 0);
        REQUIRE(rate <= 1);
        std::vector<LinkUse> uses;
        flows.find({1, other}, runs.where, runs.job.parameter_servers > 0, uses);
        for (const LinkUse& use : uses) used[use.link] += use.weight * gangs->rate(other);
      }
      for (const auto& [link, bytes_per_s] : used) REQUIRE(bytes_per_s <= kNic * (1 + 1e-12));
    }
  }
}
