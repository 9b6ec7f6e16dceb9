// SPDX-License-Identifier: Apache-2.0
// Whatever comes and goes, with every policy: nothing is given twice, what is kept up step by step
// equals what is counted from scratch, and the node that is taken is one of the best.
#include "policies/fractional/packer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "policies/fractional/test_cluster.h"

using namespace starling;

namespace {

struct Here {
  std::uint32_t demand;
  Placed where;
};

/// The nodes as they should be, from the list of what is placed alone.
struct Recount {
  std::vector<std::int64_t> cpu, memory;
  std::vector<std::vector<std::int64_t>> gpus;
  std::int64_t allocated = 0;

  Recount(const ClusterSpec& cluster, const Demands& demands, const std::vector<Here>& placed) {
    for (const NodeSpec& node : cluster.nodes) {
      cpu.push_back(node.cpu_milli);
      memory.push_back(node.memory_mib);
      gpus.emplace_back(node.gpus, kWholeGpu);
    }
    for (const Here& here : placed) {
      const PodDemand& d = demands.all[here.demand];
      cpu[here.where.node] -= d.cpu_milli;
      memory[here.where.node] -= d.memory_mib;
      REQUIRE(static_cast<std::uint32_t>(std::popcount(here.where.gpus)) == d.gpus);
      for (std::size_t g = 0; g < kNodeGpusMost; ++g) {
        if ((here.where.gpus >> g & 1U) == 0) continue;
        REQUIRE(g < gpus[here.where.node].size());
        gpus[here.where.node][g] -= d.gpu_milli;
        allocated += d.gpu_milli;
      }
    }
  }
};

void check_everything(const ClusterSpec& cluster, const Demands& demands,
                      const Fragmentation& measure, const std::vector<Here>& placed,
                      const GpuShares& shares) {
  const Recount truth(cluster, demands, placed);
  std::int64_t fragments = 0;
  for (std::uint32_t n = 0; n < shares.size(); ++n) {
    const PackNode node = shares.node(n);
    REQUIRE(truth.cpu[n] >= 0);
    REQUIRE(truth.memory[n] >= 0);
    REQUIRE(node.free.cpu_milli == truth.cpu[n]);
    REQUIRE(node.free.memory_mib == truth.memory[n]);
    for (std::size_t g = 0; g < truth.gpus[n].size(); ++g) {
      REQUIRE(truth.gpus[n][g] >= 0);
      REQUIRE(node.free.gpu_milli[g] == truth.gpus[n][g]);
    }
    REQUIRE(node.fragments == measure.of(node.free));
    fragments += measure.of(node.free);
  }
  REQUIRE(shares.fragments() == fragments);
  REQUIRE(shares.allocated_gpu_milli() == truth.allocated);
}

/// The best score of all nodes, asked anew.
std::int64_t best_score(const GpuShares& shares, const PackPolicy& policy,
                        const PodDemand& demand) {
  std::int64_t best = kNoFit;
  for (std::uint32_t n = 0; n < shares.size(); ++n) {
    const PackNode node = shares.node(n);
    if (fits(node.free, demand)) best = std::min(best, policy.score(node, demand));
  }
  return best;
}

}  // namespace

TEST_CASE("random comings and goings: exact, never over-allocated, always one of the best nodes") {
  Rng rng(11);
  for (int round = 0; round < 40; ++round) {
    const ClusterSpec cluster = random_cluster(rng);
    const Demands demands = random_demands(rng);
    const Fragmentation measure(demands.all);
    for (const std::string& name : pack_policy_names()) {
      CAPTURE(name);
      CAPTURE(round);
      Packer packer(cluster, demands, measure, make_pack_policy(name, cluster, measure),
                    rng.fork(7));
      const auto policy = make_pack_policy(name, cluster, measure);
      const GpuShares& shares = packer.shares();
      const std::int64_t empty = shares.fragments();
      std::vector<Here> placed;
      for (int step = 0; step < 120; ++step) {
        if (!placed.empty() && rng.chance(0.35)) {
          std::swap(placed[rng.below(static_cast<std::uint32_t>(placed.size()))], placed.back());
          packer.remove(placed.back().demand, placed.back().where);
          placed.pop_back();
        } else {
          const std::uint32_t d = rng.below(static_cast<std::uint32_t>(demands.all.size()));
          const std::int64_t best = best_score(shares, *policy, demands.all[d]);
          std::vector<std::int64_t> scores;
          for (std::uint32_t n = 0; n < shares.size(); ++n) {
            const PackNode node = shares.node(n);
            scores.push_back(fits(node.free, demands.all[d]) ? policy->score(node, demands.all[d])
                                                             : kNoFit);
          }
          const auto where = packer.place(d);
          REQUIRE(where.has_value() == (best != kNoFit));
          if (where) {
            REQUIRE(scores[where->node] == best);
            placed.push_back({d, *where});
          }
        }
        check_everything(cluster, demands, measure, placed, shares);
      }
      for (const Here& here : placed) packer.remove(here.demand, here.where);
      CHECK(shares.fragments() == empty);
      CHECK(shares.allocated_gpu_milli() == 0);
    }
  }
}

TEST_CASE("a demand that was not asked about for long finds all changes") {
  // More changes than the packer remembers one by one.
  const ClusterSpec cluster = cluster_of({1, 1});
  const Demands demands = demands_of({sharing(100), whole(1)});
  const Fragmentation measure(demands.all);
  Packer packer(cluster, demands, measure, make_pack_policy("fgd", cluster, measure), Rng(1));
  const auto first = packer.place(1);
  REQUIRE(first.has_value());
  packer.remove(1, *first);
  for (int i = 0; i < 20; ++i) REQUIRE(packer.place(0).has_value());
  CHECK_FALSE(packer.place(0).has_value());
  CHECK_FALSE(packer.place(1).has_value());
}

TEST_CASE("of nodes that score alike the least rank is taken") {
  const ClusterSpec cluster = cluster_of({1, 1, 1, 1});
  const Demands demands = demands_of({whole(1)});
  const Fragmentation measure(demands.all);
  const auto order = [&](Rng rng, std::vector<std::uint32_t> ranks) {
    Packer packer(cluster, demands, measure, make_pack_policy("best-fit", cluster, measure), rng,
                  ranks);
    std::vector<std::uint32_t> nodes;
    while (const auto where = packer.place(0)) nodes.push_back(where->node);
    return nodes;
  };
  CHECK(order(Rng(1), {7, 3, 9, 0}) == std::vector<std::uint32_t>{3, 1, 0, 2});
  // Without ranks the seed draws an order.
  CHECK(order(Rng(1), {}) == order(Rng(1), {}));
  CHECK(order(Rng(1), {}).size() == 4);
  CHECK(order(Rng(1), {}) != order(Rng(2), {}));
}

TEST_CASE("same seed, same places") {
  Rng rng(3);
  const ClusterSpec cluster = random_cluster(rng);
  const Demands demands = random_demands(rng);
  const Fragmentation measure(demands.all);
  for (const std::string& name : pack_policy_names()) {
    Packer a(cluster, demands, measure, make_pack_policy(name, cluster, measure), Rng(4));
    Packer b(cluster, demands, measure, make_pack_policy(name, cluster, measure), Rng(4));
    for (std::uint32_t i = 0; i < 60; ++i) {
      const std::uint32_t d = i % static_cast<std::uint32_t>(demands.all.size());
      const auto x = a.place(d);
      const auto y = b.place(d);
      REQUIRE(x.has_value() == y.has_value());
      if (x) CHECK((x->node == y->node && x->gpus == y->gpus));
    }
  }
}
