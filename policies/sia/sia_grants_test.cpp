// SPDX-License-Identifier: Apache-2.0
#include "policies/sia/sia_grants.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "policies/elastic/elastic_jobs_test.h"
#include "scheduling/packing.h"

namespace starling {
namespace {

std::optional<Placement> by_size(const Occupancy& gpus, const SiaGrant& grant) {
  JobSpec job = *grant.job->spec;
  job.workers = grant.gpus;
  return starling::place(gpus, shape_of(gpus), job, Fit::server);
}

/// Jobs that run on the given GPUs, or wait, and grants for them.
struct Rig {
  explicit Rig(std::uint32_t count) : topology(servers(count)), gpus(topology, {0, count}) {}

  void add(std::uint32_t size, Placement runs_on, bool stays) {
    specs.emplace_back();
    specs.back().id = JobId{1, specs.size()};
    jobs.emplace_back();
    jobs.back().spec = &specs.back();
    jobs.back().placement = std::move(runs_on);
    grants.push_back({&jobs.back(), GpuTypeId{0}, size, stays});
  }
  void place() { place_grants(gpus, grants, by_size); }
  static Placement range(std::uint32_t first, std::uint32_t count) {
    Placement out;
    for (std::uint32_t i = 0; i < count; ++i) out.push_back(GpuId{first + i});
    return out;
  }

  Topology topology;
  Occupancy gpus;
  std::deque<JobSpec> specs;
  std::deque<JobView> jobs;
  std::vector<SiaGrant> grants;
};

TEST_CASE("a job that stays stays, and the others fill the server with least room") {
  Rig rig(2);
  rig.add(4, Rig::range(0, 4), true);
  rig.add(2, {}, false);
  rig.add(8, {}, false);
  rig.place();
  CHECK(*rig.grants[0].place == Rig::range(0, 4));
  CHECK(*rig.grants[1].place == Rig::range(4, 2));
  CHECK(*rig.grants[2].place == Rig::range(8, 8));
}

TEST_CASE("smaller ones make room where the fewest have to leave") {
  Rig rig(2);
  rig.add(2, Rig::range(0, 2), true);
  rig.add(1, Rig::range(8, 1), true);
  rig.add(8, {}, false);
  rig.place();
  CHECK(*rig.grants[0].place == Rig::range(0, 2));
  CHECK(*rig.grants[1].place == Rig::range(2, 1));
  CHECK(!rig.grants[1].stays);
  CHECK(*rig.grants[2].place == Rig::range(8, 8));
}

TEST_CASE("several whole servers are cleared for one that needs them") {
  Rig rig(3);
  for (std::uint32_t server = 0; server < 3; ++server) rig.add(2, Rig::range(server * 8, 2), true);
  rig.add(16, {}, false);
  rig.place();
  for (const SiaGrant& grant : rig.grants) CHECK(grant.place);
  CHECK(rig.gpus.free_count() == 2);
}

TEST_CASE("a job for which room cannot be made waits, and none moves for it") {
  Rig rig(2);
  for (const std::uint32_t gpu : {0U, 8U}) rig.gpus.take(Rig::range(gpu, 1));
  rig.add(1, Rig::range(1, 1), true);
  rig.add(8, {}, false);
  rig.place();
  CHECK(*rig.grants[0].place == Rig::range(1, 1));
  CHECK(rig.grants[0].stays);
  CHECK(!rig.grants[1].place);
}

// Random powers of two that run wherever they are, some of them of a size that they leave, and
// newcomers as long as there are GPUs in all.
TEST_CASE("powers of two all find a place as long as there are GPUs in all") {
  Rng rng(5);
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t count = 1 + rng.below(6);
    Rig rig(count);
    Occupancy now = rig.gpus;
    std::uint32_t left = count * 8;
    while (left > 0 && !rng.chance(0.05)) {
      const std::uint32_t size = std::min(1U << rng.below(5), 8 * count);
      if (size > left || (size > 8 && size % 8 != 0)) continue;
      Placement there;
      if (rng.chance(0.7)) {
        const ServerId server{rng.below(count)};
        if (size <= 8 && now.free_on(server) >= size) there = now.free_gpus(server, size);
        now.take(there);
      }
      const bool stays = !there.empty() && rng.chance(0.8);
      rig.add(size, std::move(there), stays);
      left -= size;
    }
    rig.place();
    CHECK(rig.gpus.free_count() == left);
    for (const SiaGrant& grant : rig.grants) {
      REQUIRE(grant.place);
      CHECK(grant.place->size() == grant.gpus);
      const ServerId first = rig.topology.server_of(grant.place->front());
      if (grant.gpus <= 8) CHECK(rig.topology.server_of(grant.place->back()) == first);
    }
  }
}

}  // namespace
}  // namespace starling
