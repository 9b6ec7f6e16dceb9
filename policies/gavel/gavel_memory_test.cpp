// SPDX-License-Identifier: Apache-2.0
// What Gavel takes up of a life that had other options, another clock, or a great many jobs.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "policies/gavel/gavel.h"
#include "scheduling/policy_memory.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// No job disturbs another.
class Undisturbed final : public SpeedModel {
 public:
  [[nodiscard]] Speed speed(const JobProfile&, const Placement&, const Neighbours&) const override {
    return {1, 0};
  }
};

Topology one_server(std::uint32_t gpus) {
  GeneratorOptions options;
  options.groups = {{1, "V100"}};
  options.gpus_per_server = gpus;
  return generate_flat(options).value();
}

/// A partition of one server, and jobs of one GPU that run where the policy says.
struct Home {
  Home(std::uint32_t size, std::uint32_t jobs, std::uint32_t tenants)
      : topology(one_server(size)), gpus(topology, {0, 1}, tenants), specs(jobs) {
    for (std::uint32_t i = 0; i < jobs; ++i) {
      specs[i].id = JobId{1, i + 1};
      specs[i].model = "ResNet-18 (batch size 32)";
      JobView job;
      job.spec = &specs[i];
      job.order = i;
      waiting.push_back(job);
    }
  }
  /// Carries out what is decided at `now`; answers how many starts and stops that was.
  std::size_t decide(GavelPolicy& policy, Instant now, TriggerKind why) {
    for (JobView& job : running) job.served += now - seen;
    seen = now;
    const View view{topology, gpus, waiting, running, {}, speed, now, AgentId{0}};
    Rng rng(1);
    const std::vector<Decision> made = policy.decide(view, {why}, rng);
    for (const Decision& decision : made) {
      if (const auto* stop = std::get_if<Preempt>(&decision)) move(stop->job, running, waiting, {});
      if (const auto* start = std::get_if<Start>(&decision))
        move(start->job, waiting, running, start->placement);
    }
    return made.size();
  }
  void move(JobId id, std::vector<JobView>& from, std::vector<JobView>& to, Placement placement) {
    const auto job = std::ranges::find(from, id, [](const JobView& j) { return j.spec->id; });
    REQUIRE(job != from.end());
    if (!job->placement.empty()) gpus.give_back(job->placement, demand_of(*job->spec));
    job->placement = std::move(placement);
    if (!job->placement.empty()) gpus.take(job->placement, demand_of(*job->spec));
    to.push_back(*job);
    from.erase(job);
  }

  Topology topology;
  Occupancy gpus;
  std::vector<JobSpec> specs;
  std::vector<JobView> waiting, running;
  Undisturbed speed;
  Instant seen{};
};

TEST_CASE("pairs of a life that shared GPUs do not outlive it in one that shares none") {
  GavelOptions options;
  options.sharing = true;
  GavelPolicy shares(options);
  Home first(1, 2, 2);
  first.decide(shares, Instant(1000s), TriggerKind::arrival);
  REQUIRE(first.running.size() == 2);
  first.decide(shares, Instant(1360s), TriggerKind::round);
  const auto memory = shares.save(Instant{});

  options.sharing = false;
  GavelPolicy alone(options);
  REQUIRE(alone.restore(memory, Instant{}).ok());
  Home next(1, 2, 1);
  std::size_t changes = 0;
  for (Instant now(2000s); now < Instant(8000s); now += 360s) {
    next.decide(alone, now, TriggerKind::round);
    changes += next.decide(alone, now + 1s, TriggerKind::departure);
    CHECK(next.running.size() <= 1);
  }
  CHECK(changes > 4);  // each has half of the GPU's time
}

TEST_CASE("a clock behind that of the last life stops neither rounds nor allocations") {
  GavelPolicy before{GavelOptions{}};
  Home first(1, 1, 1);
  first.decide(before, Instant(90'000s), TriggerKind::arrival);
  REQUIRE(first.running.size() == 1);
  first.decide(before, Instant(90'360s), TriggerKind::round);

  GavelPolicy after{GavelOptions{}};
  REQUIRE(after.restore(before.save(Instant{}), Instant{}).ok());
  Home next(1, 2, 1);
  next.seen = Instant(1000s);
  next.move(JobId{1, 1}, next.waiting, next.running, {GpuId{0}});
  bool second_ran = false;
  for (Instant now(1000s); now < Instant(8000s); now += 360s) {
    next.decide(after, now, TriggerKind::arrival);
    next.decide(after, now + 1s, TriggerKind::departure);
    second_ran = second_ran || std::ranges::any_of(next.running, [](const JobView& job) {
                   return job.spec->id == JobId{1, 2};
                 });
  }
  CHECK(second_ran);
}

TEST_CASE("of a great many jobs those that have run longest are kept") {
  GavelPolicy before{GavelOptions{}};
  Home home(8, 4000, 1);
  for (std::uint32_t i = 0; i < 4000; ++i) home.waiting[i].served = std::chrono::seconds(i);
  Rng rng(1);
  const View view{home.topology, home.gpus,   home.waiting, {}, {},
                  home.speed,    Instant(1s), AgentId{0}};
  (void)before.decide(view, {TriggerKind::arrival}, rng);
  const auto memory = before.save(Instant{});
  CHECK(memory.size() <= kMostPolicyMemory);
  CHECK(memory.size() > kMostPolicyMemory / 2);
  const auto kept = [&](std::uint64_t job) {
    MemoryWriter id;
    id.job({1, job});
    return !std::ranges::search(memory, id.bytes()).empty();
  };
  CHECK(kept(4000));
  CHECK(kept(3000));
  CHECK_FALSE(kept(100));
  GavelPolicy after{GavelOptions{}};
  CHECK(after.restore(memory, Instant{}).ok());
}

}  // namespace
}  // namespace starling
