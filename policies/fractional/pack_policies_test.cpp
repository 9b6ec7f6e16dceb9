// SPDX-License-Identifier: Apache-2.0
// What tells the policies apart, on clusters small enough to see the answer.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "policies/fractional/packer.h"
#include "policies/fractional/test_cluster.h"

using namespace starling;

namespace {

/// A cluster where pods of demand i of `target` may be put by hand, and then by a policy.
struct World {
  ClusterSpec cluster;
  Demands demands;
  Fragmentation measure;
  GpuShares shares;

  World(ClusterSpec c, std::vector<PodDemand> target)
      : cluster(std::move(c)),
        demands(demands_of(std::move(target))),
        measure(demands.all),
        shares(cluster, measure) {}

  void put(std::uint32_t node, GpuSet gpus, std::uint32_t demand) {
    shares.take(node, gpus, demands.all[demand]);
  }
  /// The lowest of the best nodes.
  Placed choose(const std::string& name, std::uint32_t index) {
    const auto policy = make_pack_policy(name, cluster, measure);
    const PodDemand& demand = demands.all[index];
    std::int64_t best = kNoFit;
    Placed where;
    Rng rng(1);
    for (std::uint32_t n = 0; n < shares.size(); ++n) {
      const PackNode node = shares.node(n);
      if (!fits(node.free, demand) || policy->score(node, demand) >= best) continue;
      best = policy->score(node, demand);
      where = {n, policy->gpus(node, demand, rng)};
    }
    REQUIRE(best != kNoFit);
    return where;
  }
};

}  // namespace

TEST_CASE("fgd takes the GPU on which nothing is lost, best fit the fullest node") {
  // Half-GPU pods are all that come. A third of a GPU is left on node 0, half of one on node 1.
  // 330 more on a half-free GPU strand 170; on a GPU with 330 left they free it of fragments.
  World world(cluster_of({1, 1}), {sharing(500, 0, 8), sharing(330, 0, 1), sharing(670, 0, 1)});
  world.put(0, 1, 2);
  world.put(1, 1, 0);
  CHECK(world.choose("fgd", 1).node == 0);
  CHECK(world.choose("fgd", 0).node == 1);
}

TEST_CASE("fgd keeps CPUs beside idle GPUs") {
  // A pod without a GPU that needs nearly all CPUs goes where no GPU is left behind.
  World world(cluster_of({8, 0, 8}), {no_gpu(30'000), whole(1, 8000, 9)});
  CHECK(world.choose("fgd", 0).node == 1);
  world.put(1, 0, 0);
  for (std::uint32_t g = 0; g < 8; ++g) world.shares.take(2, GpuSet{1} << g, whole(1, 0));
  CHECK(world.choose("fgd", 0).node == 2);
}

TEST_CASE("fgd goes down to the GPU: the share that fits leaves the other whole") {
  World world(cluster_of({2}), {sharing(400, 0, 5), whole(1, 0, 5)});
  world.put(0, 2, 0);
  CHECK(world.choose("fgd", 0).gpus == 2);
  CHECK(world.choose("fgd", 1).gpus == 1);
}

TEST_CASE("best-fit and worst-fit are each other's opposite") {
  World world(cluster_of({2, 4, 8}), {sharing(400)});
  CHECK(world.choose("best-fit", 0).node == 0);
  CHECK(world.choose("worst-fit", 0).node == 2);
  world.put(2, 1, 0);
  CHECK(world.choose("worst-fit", 0).node == 2);
  CHECK(world.choose("worst-fit", 0).gpus == 2);
  world.put(0, 1, 0);
  CHECK(world.choose("best-fit", 0).node == 0);
  CHECK(world.choose("best-fit", 0).gpus == 1);
}

TEST_CASE("dot-product spares what the pod needs much of") {
  // Equal free sums: node 0 has CPUs left, node 1 GPUs.
  ClusterSpec cluster = cluster_of({4, 8});
  cluster.nodes[0].cpu_milli = 64'000;
  World world(cluster, {whole(1, 100), no_gpu(8000)});
  CHECK(world.choose("dot-product", 0).node == 0);
  CHECK(world.choose("dot-product", 1).node == 1);
}

TEST_CASE("gpu-packing: shared GPUs, then idle ones of nodes at work, then idle nodes") {
  World world(cluster_of({2, 2, 2}), {sharing(600), sharing(300)});
  CHECK(world.choose("gpu-packing", 0).node == 0);
  world.put(2, 1, 0);
  CHECK(world.choose("gpu-packing", 1).node == 2);
  CHECK(world.choose("gpu-packing", 1).gpus == 1);
  CHECK(world.choose("gpu-packing", 0).node == 2);
  CHECK(world.choose("gpu-packing", 0).gpus == 2);
  world.put(2, 2, 0);
  CHECK(world.choose("gpu-packing", 0).node == 0);
}

TEST_CASE("gpu-clustering: among its like, then alone, and only then among others") {
  World world(cluster_of({2, 2, 2}), {sharing(300), sharing(200), whole(1)});
  world.put(1, 1, 0);
  CHECK(world.choose("gpu-clustering", 0).node == 1);
  CHECK(world.choose("gpu-clustering", 1).node == 1);  // of any share
  CHECK(world.choose("gpu-clustering", 2).node == 0);
  world.put(1, 2, 2);
  CHECK(world.choose("gpu-clustering", 0).node == 1);
  world.put(0, 1, 2);
  world.put(0, 2, 2);
  CHECK(world.choose("gpu-clustering", 2).node == 2);
  world.put(2, 1, 1);
  CHECK(world.choose("gpu-clustering", 0).node == 2);
  CHECK(world.choose("gpu-clustering", 2).node == 2);
}

TEST_CASE("scores are those that were published") {
  // Of a cluster whose largest node has 128 CPUs and 8 GPUs.
  ClusterSpec cluster = cluster_of({8, 4});
  cluster.nodes[0].cpu_milli = 128'000;
  World world(cluster, {sharing(500, 6000), whole(2, 12'000), no_gpu(64'000)});
  const auto score = [&](const char* name, std::uint32_t node, std::uint32_t demand) {
    return 100 - make_pack_policy(name, cluster, world.measure)
                     ->score(world.shares.node(node), world.demands.all[demand]);
  };
  CHECK(score("best-fit", 0, 0) == 5);      // 1 - 0.5 x 122/128 - 0.5 x 7.5/8
  CHECK(score("best-fit", 0, 2) == 25);     // 1 - 0.5 x 64/128 - 0.5
  CHECK(score("dot-product", 0, 1) == 82);  // 1 - (12/128 + 2/8) / 2
  CHECK(score("dot-product", 1, 2) == 93);  // 1 - 0.25 x 0.5 / 2
  CHECK(score("gpu-packing", 0, 1) == 25);
  CHECK(score("gpu-packing", 1, 1) == 29);
  CHECK(score("gpu-packing", 1, 2) == 0);
  CHECK(score("gpu-clustering", 0, 0) == 25);
  CHECK(score("gpu-clustering", 1, 0) == 37);
  world.put(0, 1, 0);
  CHECK(score("gpu-packing", 0, 0) == 95);
  CHECK(score("gpu-packing", 0, 1) == 48);
  CHECK(score("gpu-clustering", 0, 0) == 76);
  CHECK(score("gpu-clustering", 0, 1) == 1);
  world.put(0, 6, 1);
  CHECK(score("gpu-clustering", 0, 1) == 57);
  CHECK(score("fgd", 0, 2) <= 50);
}

TEST_CASE("random goes everywhere, on every GPU") {
  World world(cluster_of({2, 2}), {sharing(10, 0)});
  Packer packer(world.cluster, world.demands, world.measure,
                make_pack_policy("random", world.cluster, world.measure), Rng(9));
  std::vector<int> seen(4, 0);
  for (int i = 0; i < 100; ++i) {
    const auto where = packer.place(0);
    REQUIRE(where.has_value());
    ++seen[2 * where->node + (where->gpus == 2 ? 1 : 0)];
  }
  for (const int times : seen) CHECK(times > 10);
}

TEST_CASE("no policy has another name") {
  World world(cluster_of({1}), {sharing(10)});
  CHECK(make_pack_policy("fdg", world.cluster, world.measure) == nullptr);
}
