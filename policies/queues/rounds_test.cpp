// SPDX-License-Identifier: Apache-2.0
// When a round begins, and what of its plan is carried out when.
#include "policies/queues/rounds.h"

#include <doctest/doctest.h>

#include <list>

#include "policies/testing/battery.h"

namespace starling {
namespace {

constexpr Duration kRound = std::chrono::seconds(100);

/// One server of four GPUs. Jobs are numbered from 1.
class OneServer {
 public:
  OneServer() : topology(make()), speed(topology), gpus(topology, {0, 1}) {}
  JobView make_job(std::uint32_t workers) {
    JobSpec& spec = specs.emplace_back();
    spec.id = JobId{1, specs.size()};
    spec.workers = workers;
    JobView view;
    view.spec = &spec;
    view.order = specs.size();
    return view;
  }
  void wait(std::uint32_t workers) { waiting.push_back(make_job(workers)); }
  void run(Placement placement) {
    running.push_back(make_job(static_cast<std::uint32_t>(placement.size())));
    gpus.take(placement);
    running.back().placement = std::move(placement);
  }
  [[nodiscard]] View view() const {
    return {topology, gpus, waiting, running, {}, speed, now, AgentId{0}};
  }
  /// The jobs that start; `plan` is what a round plans. Counts rounds and other calls.
  std::vector<JobId> decide(const std::vector<RoundPlan::Planned>& plan = {},
                            TriggerKind trigger = TriggerKind::arrival) {
    const auto fill = [&](RoundPlan& to, std::vector<Decision>&) {
      CHECK(to.empty());
      ++begun;
      for (const RoundPlan::Planned& planned : plan) to.add(planned);
    };
    const auto between = [&](RoundPlan&, std::vector<Decision>&) { ++others; };
    std::vector<JobId> starts;
    for (const Decision& decision :
         rounds.decide(view(), {trigger}, kRound,
                       {.observe = [&] { ++calls; }, .plan = fill, .between = between})) {
      if (const auto* start = std::get_if<Start>(&decision)) starts.push_back(start->job);
    }
    return starts;
  }

  Topology topology;
  CrowdedSpeed speed;
  Occupancy gpus;
  std::list<JobSpec> specs;
  std::vector<JobView> waiting, running;
  Instant now{};
  Rounds rounds{{false, Fit::server}};
  int begun = 0, others = 0, calls = 0;

 private:
  static Topology make() {
    GeneratorOptions options;
    options.servers = 1;
    options.gpus_per_server = 4;
    return generate_flat(options).value();
  }
};

using Jobs = std::vector<JobId>;

TEST_CASE("a round begins when the last has lasted, at a round trigger, or while nothing runs") {
  OneServer world;
  world.decide();
  CHECK(world.begun == 0);  // there is no job
  world.wait(1);
  world.run({GpuId{0}});
  world.decide();
  CHECK(world.begun == 1);
  world.decide({}, TriggerKind::round);
  CHECK(world.begun == 1);  // not twice at one instant
  world.now += kRound - Duration(1);
  world.decide();
  CHECK(world.begun == 1);
  world.now += Duration(1);
  world.decide();
  CHECK(world.begun == 2);
  world.now += Duration(1);
  world.decide({}, TriggerKind::round);
  CHECK(world.begun == 3);
  world.now += Duration(1);
  world.running.clear();
  world.decide();
  CHECK(world.begun == 4);
  CHECK(world.calls == 7);
  CHECK(world.others == 3);
}

TEST_CASE("a planned job starts when those that have its GPUs are gone, and none starts for them") {
  OneServer world;
  world.run({GpuId{0}});
  world.wait(2);
  const JobId next = world.waiting.front().spec->id;
  CHECK(world.decide({{next, {GpuId{0}, GpuId{1}}}}).empty());
  world.now += Duration(1);
  CHECK(world.decide().empty());
  world.gpus.give_back(world.running.front().placement);
  CHECK(world.decide() == Jobs{next});
  CHECK(world.decide().empty());  // it is planned no longer
}

TEST_CASE("a blocked job keeps its place in the plan, one that is gone does not") {
  OneServer world;
  world.run({GpuId{3}});
  world.wait(1);
  world.wait(1);
  const JobId first = world.waiting[0].spec->id, second = world.waiting[1].spec->id;
  world.waiting[0].blocked = world.waiting[1].blocked = true;
  CHECK(world.decide({{first, {GpuId{0}}}, {second, {GpuId{1}}}}).empty());
  world.now += Duration(1);
  const JobView back = world.waiting.back();
  world.waiting.pop_back();
  CHECK(world.decide().empty());
  world.waiting.push_back(back);
  for (JobView& job : world.waiting) job.blocked = false;
  CHECK(world.decide() == Jobs{first});
}

TEST_CASE("places of a plan are kept as far as they are free") {
  OneServer world;
  world.run({GpuId{0}});
  RoundPlan plan;
  plan.add({JobId{2, 1}, {GpuId{0}, GpuId{1}}});
  CHECK(plan.contains(JobId{2, 1}));
  CHECK_FALSE(plan.contains(JobId{2, 2}));
  plan.keep_places(world.gpus);
  CHECK(world.gpus.free_count() == 2);
}

}  // namespace
}  // namespace starling
