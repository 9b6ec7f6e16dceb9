// SPDX-License-Identifier: Apache-2.0
// Who stops for whom, and what is kept until they have: stated once for all policies that stop
// jobs.
#include "policies/parts/evict.h"

#include <doctest/doctest.h>

#include <list>

#include "topology/generate/generate.h"

namespace starling {
namespace {

/// Two servers of four GPUs and 64 CPUs. Job n has so many GPUs of a server.
class Two {
 public:
  Two() : topology(make()), soon(topology, {0, 2}) {}
  const JobView& run(std::uint32_t server, std::uint32_t gpus, double cpus = 0) {
    JobSpec& spec = specs.emplace_back();
    spec.id = JobId{1, specs.size()};
    spec.workers = gpus;
    spec.cpus_per_worker = cpus;
    JobView& view = jobs.emplace_back();
    view.spec = &spec;
    view.placement = soon.free_gpus(ServerId{server}, gpus);
    soon.take(view.placement, demand_of(spec));
    return view;
  }

  Topology topology;
  Occupancy soon;
  std::list<JobSpec> specs;
  std::list<JobView> jobs;
  std::vector<Decision> out;

 private:
  static Topology make() {
    GeneratorOptions options;
    options.servers = 2;
    options.gpus_per_server = 4;
    return generate_flat(options).value();
  }
};

using Jobs = std::vector<JobId>;

TEST_CASE("of those offered only jobs that have to go are stopped, in the order of offering") {
  Two world;
  const JobView& one = world.run(0, 2);
  const JobView& two = world.run(0, 2);
  const JobView& three = world.run(1, 4);
  Eviction eviction(world.soon);
  for (const JobView* job : {&one, &three, &two}) eviction.offer(*job);
  CHECK(world.soon.free_count() == 8);
  eviction.promise({GpuId{0}, GpuId{4}}, {});
  CHECK(eviction.settle(world.out) == Jobs{one.spec->id, three.spec->id});
  REQUIRE(world.out.size() == 2);
  CHECK(std::get<Preempt>(world.out[0]).job == one.spec->id);
  CHECK(std::get<Preempt>(world.out[1]).job == three.spec->id);
  // Two has its GPUs, and of those who stop nothing but what was promised is taken.
  CHECK(world.soon.free_count() == 4);
  CHECK_FALSE(world.soon.is_free(two.placement.front()));
}

TEST_CASE("CPUs that were promised are as good a reason as GPUs") {
  Two world;
  const JobView& one = world.run(0, 1, 48);
  Eviction eviction(world.soon);
  eviction.offer(one);
  JobSpec needy;
  needy.cpus_per_worker = 32;
  SUBCASE("more than is left beside it") {
    eviction.promise({GpuId{3}}, demand_of(needy));
    CHECK(eviction.settle(world.out) == Jobs{one.spec->id});
  }
  SUBCASE("on another server") {
    eviction.promise({GpuId{4}}, demand_of(needy));
    CHECK(eviction.settle(world.out).empty());
  }
}

TEST_CASE("a job that is offered in vain stays where it is") {
  Two world;
  const JobView& one = world.run(0, 3);
  const Occupancy before = world.soon;
  Eviction eviction(world.soon);
  eviction.offer(one);
  eviction.withdraw();
  CHECK(world.soon.free_count() == before.free_count());
  CHECK(eviction.settle(world.out).empty());
  CHECK(world.out.empty());
}

TEST_CASE("a job on a server that is being drained stops for no job that gets nothing of it") {
  Two world;
  const JobView& one = world.run(0, 2);
  world.soon.block({0, 1});
  Eviction eviction(world.soon);
  eviction.offer(one);
  eviction.promise({GpuId{5}}, {});
  CHECK(eviction.settle(world.out).empty());
}

TEST_CASE("a job that leaves already is not told again, and its GPUs count") {
  Two world;
  const JobView& one = world.run(0, 4);
  Eviction eviction(world.soon);
  eviction.leaves(one);
  CHECK(eviction.soon().free_count() == 8);
  eviction.promise(one.placement, {});
  CHECK(eviction.settle(world.out).empty());
  CHECK(world.out.empty());
}

TEST_CASE("a job whose place was given back has it again unless another was promised some of it") {
  Two world;
  const JobView& one = world.run(0, 4, 8);
  CHECK_FALSE(is_left(world.soon, one));
  world.soon.give_back(one.placement, demand_of(*one.spec));
  CHECK(is_left(world.soon, one));
  SUBCASE("none was") {
    CHECK_FALSE(stop_if_needed(world.soon, one, world.out));
    CHECK(world.out.empty());
    CHECK(world.soon.free_count() == 4);
    CHECK(world.soon.taken_on(ServerId{0}) == Demand{32'000'000, 0});
  }
  SUBCASE("one was") {
    world.soon.take(Placement{one.placement.back()});
    CHECK_FALSE(is_left(world.soon, one));
    CHECK(stop_if_needed(world.soon, one, world.out));
    REQUIRE(world.out.size() == 1);
    CHECK(std::get<Preempt>(world.out[0]).job == one.spec->id);
    CHECK(world.soon.free_count() == 7);
  }
  SUBCASE("its server is being drained: no new one may come, and it stays") {
    world.soon.block({0, 1});
    CHECK_FALSE(is_left(world.soon, one));
    CHECK_FALSE(stop_if_needed(world.soon, one, world.out));
  }
  JobView waits;
  waits.spec = one.spec;
  CHECK_FALSE(is_left(world.soon, waits));
}

TEST_CASE("what is promised starts when all of it is there; until then what is free is kept") {
  Two world;
  Mirror mirror;
  world.run(0, 2);  // on GPUs 0 and 1
  Trial now(mirror, world.soon);
  start_or_keep(now, JobId{2, 1}, {GpuId{1}, GpuId{2}, GpuId{4}}, {}, world.out);
  CHECK(world.out.empty());
  CHECK(now.free_count() == 4);
  CHECK_FALSE(now.gpus().is_free(GpuId{2}));
  CHECK_FALSE(now.gpus().is_free(GpuId{4}));
  start_or_keep(now, JobId{2, 2}, {GpuId{3}, GpuId{5}}, {}, world.out);
  REQUIRE(world.out.size() == 1);
  CHECK(std::get<Start>(world.out[0]).placement == Placement{GpuId{3}, GpuId{5}});
  CHECK(now.free_count() == 2);
}

TEST_CASE("nor does it start where CPUs have still to come free") {
  Two world;
  world.run(0, 1, 48);
  Mirror mirror;
  Trial now(mirror, world.soon);
  JobSpec needy;
  needy.cpus_per_worker = 32;
  start_or_keep(now, JobId{2, 1}, {GpuId{2}}, demand_of(needy), world.out);
  CHECK(world.out.empty());
  CHECK_FALSE(now.gpus().is_free(GpuId{2}));
}

TEST_CASE("what lies here is taken here, all of it") {
  Two world;
  const Occupancy first(world.topology, {0, 1});
  CHECK_FALSE(lies_here(first, {GpuId{0}}));
  CHECK_FALSE(lies_here(world.soon, {}));
  const JobView& one = world.run(0, 2);
  CHECK(lies_here(world.soon, one.placement));
  CHECK_FALSE(lies_here(world.soon, {GpuId{0}, GpuId{3}}));
  Occupancy half(world.topology, {0, 1});
  half.take(Placement{GpuId{3}});
  CHECK_FALSE(lies_here(half, {GpuId{3}, GpuId{4}}));
}

}  // namespace
}  // namespace starling
