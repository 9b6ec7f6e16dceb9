// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/pollux.h"

#include <doctest/doctest.h>

#include <deque>
#include <string>

#include "interference/models/speed_choice.h"
#include "policies/registry.h"
#include "topology/generate/generate.h"
#include "workload/requirements.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Two servers of four GPUs, whose jobs the test places and measures as it likes.
struct TwoServers {
  explicit TwoServers(const std::string& text = "pollux", double cpus = 64)
      : topology(make(cpus)), policy(make_policy_registry().make(text).value()) {}

  static Topology make(double cpus) {
    GeneratorOptions options;
    options.groups = {{2, "T4"}};
    options.gpus_per_server = 4;
    options.cpus = cpus;
    return generate_flat(options).value();
  }
  JobView& add(std::uint32_t least, std::uint32_t most) {
    JobSpec& spec = specs.emplace_back();
    spec.id = JobId{0, specs.size()};
    spec.model = "resnet18";
    spec.workers = most;
    if (least < most) spec.workers = 1, spec.min_workers = least, spec.max_workers = most;
    JobView& job = jobs.emplace_back();
    job.spec = &spec;
    job.order = jobs.size();
    job.submitted = now;
    return job;
  }
  /// One round; carries the decisions out. No other is asked.
  void round() {
    now = later(now, 60s);
    for (int call = 0; call < 3; ++call) {
      std::vector<JobView> waiting, running;
      for (JobView& job : jobs) (job.placement.empty() ? waiting : running).push_back(job);
      const View view{topology, gpus, waiting, running, {}, *speed, now, AgentId{0}};
      const TriggerKind kind = call == 0 ? TriggerKind::round : TriggerKind::departure;
      for (const Decision& decision : policy->decide(view, {kind}, rng)) carry_out(decision);
      policy->learn();
    }
  }
  void carry_out(const Decision& decision) {
    if (const auto* start = std::get_if<Start>(&decision))
      set(start->job, start->placement, start->allocation);
    if (const auto* resize = std::get_if<Resize>(&decision))
      set(resize->job, resize->placement, resize->allocation);
    if (const auto* preempt = std::get_if<Preempt>(&decision)) set(preempt->job, {}, {});
  }
  void set(JobId id, const Placement& placement, const Allocation& how) {
    JobView& job = jobs[id.lo - 1];
    if (!job.placement.empty()) gpus.give_back(job.placement, demand_of(*job.spec)), ++job.restarts;
    if (!placement.empty()) gpus.take(placement, demand_of(*job.spec));
    job.placement = placement;
    job.allocation = how;
    job.pace = 0;
    job.measured_at = kNever;
  }
  void measure(JobView& job, double pace) {
    job.pace = pace;
    job.measured_at = now;
    job.batch = 128 * static_cast<std::uint32_t>(job.placement.size());
  }

  Topology topology;
  Occupancy gpus{topology, {0, 2}, 1};
  std::unique_ptr<SpeedModel> speed = make_speed({}, topology, nullptr).value();
  std::unique_ptr<Policy> policy;
  Rng rng{3};
  Instant now = Instant{} + 10h;
  std::deque<JobSpec> specs;
  std::deque<JobView> jobs;
};

TEST_CASE("a job gets one GPU, and then no more than twice what it was measured with") {
  TwoServers home;
  JobView& job = home.add(1, 8);
  home.round();
  CHECK(job.placement.size() == 1);
  std::vector<std::size_t> sizes;
  for (int round = 0; round < 20; ++round) {
    home.measure(job, static_cast<double>(job.placement.size()));
    home.round();
    if (sizes.empty() || sizes.back() != job.placement.size())
      sizes.push_back(job.placement.size());
  }
  // It is measured to scale as well as can be.
  CHECK(sizes.back() == 8);
  std::size_t most = 1;
  for (const std::size_t size : sizes) {
    CHECK(size <= 2 * most);
    most = std::max(most, size);
  }
}

TEST_CASE("a job whose GPUs bring nothing is not given more of them") {
  TwoServers home;
  JobView& poor = home.add(1, 8);
  JobView& good = home.add(1, 8);
  for (int round = 0; round < 20; ++round) {
    home.round();
    if (!poor.placement.empty()) home.measure(poor, 1);
    if (!good.placement.empty()) home.measure(good, static_cast<double>(good.placement.size()));
  }
  CHECK(!poor.placement.empty());
  CHECK(good.placement.size() > poor.placement.size());
}

TEST_CASE("a job that says its noise gets a batch, and one that does not runs as it asks") {
  TwoServers home("pollux:knows=given");
  JobView& noisy = home.add(1, 4);
  JobView& silent = home.add(1, 4);
  home.specs[1].model = "vgg16";
  noisy.noise_scale = 20'000;
  home.round();
  REQUIRE(!noisy.placement.empty());
  REQUIRE(!silent.placement.empty());
  CHECK(noisy.allocation.local_batch * noisy.placement.size() *
            (noisy.allocation.accumulation + 1) >
        128);
  CHECK(silent.allocation.as_asked());

  TwoServers fixed("pollux:knows=given,batch=fixed");
  JobView& other = fixed.add(1, 4);
  other.noise_scale = 20'000;
  fixed.round();
  CHECK(other.allocation.as_asked());
}

TEST_CASE("a job that says no noise gets a batch only where that of its model is given") {
  for (const bool given : {false, true}) {
    TwoServers home(given ? "pollux:knows=given" : "pollux");
    JobView& job = home.add(1, 4);
    for (int round = 0; round < 3; ++round) {
      home.round();
      REQUIRE(!job.placement.empty());
      CHECK(job.allocation.as_asked() == !given);
      home.measure(job, static_cast<double>(job.placement.size()));
    }
  }
}

TEST_CASE("gangs have all their GPUs or none, urgent ones first") {
  TwoServers home;
  JobView& low = home.add(8, 8);
  JobView& high = home.add(8, 8);
  home.specs[1].priority = 5;
  home.round();
  CHECK(low.placement.empty());
  CHECK(high.placement.size() == 8);
  JobView& higher = home.add(6, 6);
  home.specs[2].priority = 7;
  home.round();
  CHECK(higher.placement.size() == 6);
  CHECK(high.placement.empty());
  CHECK(low.placement.empty());
}

TEST_CASE("jobs that together have more CPUs than a server go to several, and none waits") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    TwoServers home("pollux:population=20,generations=20", 8);
    home.rng = Rng(seed);
    for (const double cpus : {5.0, 5.0, 3.0, 3.0}) {
      home.add(1, 1);
      home.specs.back().cpus_per_worker = cpus;
    }
    for (int round = 0; round < 4; ++round) {
      home.round();
      std::size_t placed = 0;
      for (const JobView& job : home.jobs) placed += job.placement.size();
      CHECK(placed == 4);
    }
    for (const JobView& job : home.jobs) CHECK(job.restarts == 0);
  }
}

TEST_CASE("a job that finds its GPUs kept by a worker that lies on two servers gets others") {
  TwoServers home;
  JobView& split = home.add(1, 1);
  home.specs[0].gpus_per_worker = 2;
  split.submitted = Instant{};
  split.restarts = 100'000;  // another one is worth nothing
  home.set(split.spec->id, {GpuId{0}, GpuId{4}}, {});
  JobView& gang = home.add(4, 4);
  home.round();
  CHECK(split.placement == Placement{GpuId{0}, GpuId{4}});
  CHECK(gang.placement.size() == 4);
}

TEST_CASE("of more jobs than a round is about the most urgent are chosen") {
  TwoServers home("pollux:population=2,generations=2");
  JobView& low = home.add(4, 4);
  JobView& lowest = home.add(4, 4);
  home.specs[0].priority = 1;
  home.set(low.spec->id, {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}}, {});
  home.set(lowest.spec->id, {GpuId{4}, GpuId{5}, GpuId{6}, GpuId{7}}, {});
  JobView* first = nullptr;
  for (int i = 0; i < 1'100; ++i) {
    JobView& job = home.add(1, 1);
    if (first == nullptr) first = &job;
    job.served = 1s * (i == 0 ? 0 : i + 1);
  }
  // Those that run are among the round's thousand; those that waited with the most service are not.
  home.round();
  std::size_t told = 0;
  for (const JobView& job : home.jobs) told += home.policy->explain(job.spec->id).empty() ? 0 : 1;
  CHECK(told == 1'000);
  CHECK(!home.policy->explain(low.spec->id).empty());
  CHECK(!home.policy->explain(lowest.spec->id).empty());
  CHECK(!home.policy->explain(first->spec->id).empty());
  CHECK(home.policy->explain(home.jobs.back().spec->id).empty());
  // Urgent ones alone are as many as that: who is outranked makes room.
  for (std::size_t i = 2; i < home.specs.size(); ++i) home.specs[i].priority = 5;
  for (int round = 0; round < 3; ++round) home.round();
  CHECK(home.policy->explain(low.spec->id).empty());
  std::size_t urgent = 0;
  for (std::size_t i = 2; i < home.jobs.size(); ++i) urgent += home.jobs[i].placement.size();
  CHECK(urgent > 0);
  CHECK(low.placement.size() + lowest.placement.size() + urgent <= 8);
}

TEST_CASE("jobs of a server that is being drained are left alone") {
  TwoServers home;
  JobView& job = home.add(4, 4);
  home.round();
  REQUIRE(job.placement.size() == 4);
  const Placement before = job.placement;
  home.gpus.block({home.topology.server_of(before.front()).value,
                   home.topology.server_of(before.front()).value + 1});
  home.round();
  CHECK(job.placement == before);
}

TEST_CASE("a round is explained") {
  TwoServers home;
  JobView& job = home.add(1, 8);
  home.round();
  auto lines = home.policy->explain(job.spec->id);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("it was given 1 GPU on 1 server") != std::string::npos);
  CHECK(lines[1].find("nothing was measured") != std::string::npos);
  home.measure(job, 1);
  home.round();
  home.round();
  lines = home.policy->explain(job.spec->id);
  CHECK(lines[1].find("by batches of 128 a GPU") != std::string::npos);
  CHECK(home.policy->explain(JobId{9, 9}).empty());
}

TEST_CASE("what was measured outlives the process, and garbage changes nothing") {
  TwoServers home;
  JobView& job = home.add(1, 8);
  home.round();
  for (int round = 0; round < 3; ++round) home.measure(job, 1), home.round();
  const auto kept = home.policy->save(home.now);
  TwoServers next;
  JobView& same = next.add(1, 8);
  next.now = home.now;
  REQUIRE(next.policy->restore(kept, home.now).ok());
  next.set(same.spec->id, job.placement, job.allocation);
  next.round();
  CHECK(next.policy->explain(same.spec->id).at(1).find("nothing was measured") ==
        std::string::npos);
  auto broken = kept;
  broken.resize(broken.size() - 8);
  TwoServers other;
  CHECK(!other.policy->restore(broken, home.now).ok());
}

}  // namespace
}  // namespace starling
