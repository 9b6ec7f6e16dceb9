// SPDX-License-Identifier: Apache-2.0
// The walk along a queue: what a call does in which order, and whom it passes by.
#include "policies/queues/queue_walk.h"

#include <doctest/doctest.h>

#include <list>
#include <string>

#include "policies/testing/battery.h"

namespace starling {
namespace {

/// One server of four GPUs, and another agent with one that is all free.
class Walk {
 public:
  explicit Walk(const QueueOptions& options = {})
      : topology(make()), speed(topology), gpus(topology, {0, 1}), walk(options, key) {
    RemoteDigest d;
    d.agent = AgentId{1};
    d.servers = {1, 2};
    d.gpus = d.free = d.largest_free_server = 4;
    d.whole_free_servers = 1;
    others.push_back(d);
  }
  /// Smaller `first` is tried first.
  JobView& add(std::uint32_t workers, std::int64_t first = 0) {
    JobSpec& spec = specs.emplace_back();
    spec.id = JobId{1, specs.size()};
    spec.workers = workers;
    spec.duration = Duration(first);
    JobView& view = waiting.emplace_back();
    view.spec = &spec;
    view.order = specs.size();
    return view;
  }
  [[nodiscard]] View view(bool alone = true) const {
    const std::span<const RemoteDigest> peers = others;
    return {topology, gpus, waiting, {}, alone ? peers.first(0) : peers, speed, {}, AgentId{0}};
  }
  /// The numbers of the jobs that start.
  std::vector<std::uint64_t> starts() {
    const View now = view();
    std::vector<std::uint64_t> out;
    for (const Decision& decision :
         walk.decide(now, false, {.start = [&](Trial&trial, std::vector<Decision>&decisions) {
                       walk.start_in_order(now, trial, decisions);
                     }}))
      out.push_back(std::get<Start>(decision).job.lo);
    return out;
  }

  Topology topology;
  CrowdedSpeed speed;
  Occupancy gpus;
  std::vector<RemoteDigest> others;
  std::list<JobSpec> specs;
  std::vector<JobView> waiting;
  QueueWalk walk;

 private:
  static std::int64_t key(const JobView& job) { return job.spec->duration.count(); }
  static Topology make() {
    GeneratorOptions options;
    options.servers = 2;
    options.gpus_per_server = 4;
    return generate_flat(options).value();
  }
};

using Numbers = std::vector<std::uint64_t>;

TEST_CASE("jobs start in the order of their keys, as long as there is room") {
  Walk world;
  world.add(1, 3);
  world.add(2, 1);
  world.add(1, 2).blocked = true;
  world.add(2, 4);
  world.add(1, 5);
  CHECK(world.starts() == Numbers{2, 1, 5});
}

TEST_CASE(
    "a strict queue stops at the first that does not fit, but for one that no partition can hold") {
  Walk world({.strict = true});
  world.add(9);  // more than there are
  world.add(3);
  world.add(2);
  world.add(1);
  CHECK(world.starts() == Numbers{2});
}

TEST_CASE("steps come in order, those for others only where there are others") {
  Walk world;
  world.add(1);
  std::string said;
  const QueueWalk::Steps steps{.before = [&](auto&) { said += 'b'; },
                               .start = [&](Trial&, auto&) { said += 's'; },
                               .route_overflow = [&](Trial&, auto&) { said += 'c'; }};
  SUBCASE("alone") {
    (void)world.walk.decide(world.view(), false, steps);
    CHECK(said == "s");
  }
  SUBCASE("alone and idle") {
    (void)world.walk.decide(world.view(), true, steps);
    CHECK(said.empty());
  }
  SUBCASE("with others") {
    (void)world.walk.decide(world.view(false), false, steps);
    CHECK(said == "bsc");
  }
  SUBCASE("with others, idle") {
    (void)world.walk.decide(world.view(false), true, steps);
    CHECK(said == "bc");
  }
  SUBCASE("nothing waits") {
    world.waiting.clear();
    (void)world.walk.decide(world.view(false), false, steps);
    CHECK(said.empty());
  }
}

TEST_CASE("those that are settled stay, the others go where there is room") {
  Walk world;
  world.add(1);
  world.add(1);
  world.gpus.take(world.gpus.free_gpus(ServerId{0}, 4));
  const View view = world.view(false);
  world.walk.learn(view.gpus);
  Trial trial = world.walk.trial(view);
  std::vector<Decision> out;
  world.walk.route_rest(
      view, trial, [](JobId job) { return job.lo == 1; }, out);
  REQUIRE(out.size() == 1);
  CHECK(std::get<Forward>(out.front()).job.lo == 2);
}

TEST_CASE("of a kind no gang is tried as large as one that found no room") {
  FailedGangs failed;
  failed.reset(2);
  QueueEntry entry;
  entry.kind = 1;
  entry.gpus = 4;
  CHECK(failed.may_fit(entry));
  failed.add(entry);
  CHECK_FALSE(failed.may_fit(entry));
  entry.gpus = 3;
  CHECK(failed.may_fit(entry));
  entry.gpus = 8;
  entry.kind = 0;
  CHECK(failed.may_fit(entry));
}

}  // namespace
}  // namespace starling
