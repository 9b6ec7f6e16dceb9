// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "policies/rank/rank_rig_test.h"
#include "policies/registry.h"
#include "policies/testing/battery.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// That part of its speed beside what is on the same GPU; all of it elsewhere.
struct SharedSpeed final : SpeedModel {
  explicit SharedSpeed(double part) : keeps(part) {}
  [[nodiscard]] Speed speed(const JobProfile&, const Placement& placement,
                            const Neighbours& beside) const override {
    const bool shared = std::ranges::any_of(beside, [&](const Neighbour& other) {
      return std::ranges::any_of(
          placement, [&](GpuId gpu) { return std::ranges::binary_search(other.placement, gpu); });
    });
    return {shared ? keeps : 1.0, 0};
  }
  double keeps;
};

/// One server of eight GPUs of which two jobs may share each.
struct StarlingRig : PolicyRig {
  explicit StarlingRig(const std::string& options, double keeps = 0.7)
      : PolicyRig(servers(1), make_policy_registry().make("starling:" + options).value(), {0, 1},
                  2),
        pairs(keeps) {
    speed = &pairs;
  }
  /// Job i is on the GPUs of job j.
  [[nodiscard]] bool shares(std::size_t i, std::size_t j) const {
    return !jobs[i].placement.empty() && jobs[i].placement == jobs[j].placement;
  }
  [[nodiscard]] std::string why(std::size_t i) const {
    std::string all;
    for (const std::string& line : policy->explain(jobs[i].spec->id)) all += line + '\n';
    return all;
  }
  SharedSpeed pairs;
};

TEST_CASE("a short job that comes while all is taken joins a long one at once, and says so") {
  StarlingRig rig("knows=exact,may=order");
  for (int i = 0; i < 8; ++i) rig.submit(rigid_spec(1, 100'000));
  rig.round();
  rig.submit(rigid_spec(1, 100));
  rig.now += 5s;
  rig.settle(TriggerKind::arrival);
  REQUIRE(rig.jobs[8].placement.size() == 1);
  CHECK(says(rig.why(8), "it shares them with"));
  CHECK(!says(rig.why(8), "its part was none"));
  rig.round(120s);  // and no job is moved for that
  CHECK(rig.jobs[8].placement.size() == 1);
}

TEST_CASE("no job joins where that costs more than it brings, or share=no says so") {
  for (const auto& [options, keeps] : {std::pair("knows=exact,may=order,share=no", 0.7),
                                       std::pair("knows=exact,may=order", 0.5)}) {
    StarlingRig rig(options, keeps);
    for (int i = 0; i < 8; ++i) rig.submit(rigid_spec(1, 100'000));
    rig.round();
    rig.submit(rigid_spec(1, 100));
    rig.round(120s);
    CHECK(rig.jobs[8].placement.empty());
  }
}

TEST_CASE("who waits goes to free GPUs of another partition at once, not at the next round") {
  PolicyRig rig(servers(2), make_policy_registry().make("starling:knows=exact").value(), {0, 1});
  for (int i = 0; i < 8; ++i) rig.submit(rigid_spec(1, 100'000));
  rig.round();
  rig.submit(rigid_spec(1, 100));
  RemoteDigest other;
  other.agent = AgentId{1}, other.servers = {1, 2}, other.gpus = 8, other.version = 1;
  rig.others = {other};
  rig.now += 5s;
  CHECK(rig.settle(TriggerKind::arrival).empty());
  rig.others.front().free = 4, rig.others.front().largest_free_server = 4;
  rig.others.front().version = 2;
  rig.now += 5s;
  const auto made = rig.decide(TriggerKind::digest);
  REQUIRE(made.size() == 1);
  REQUIRE(std::holds_alternative<Forward>(made.front()));
  CHECK(std::get<Forward>(made.front()).to == AgentId{1});
}

TEST_CASE("a job that came from elsewhere goes on to free GPUs as soon as it may") {
  PolicyRig rig(servers(2), make_policy_registry().make("starling:knows=exact").value(), {0, 1});
  for (int i = 0; i < 8; ++i) rig.submit(rigid_spec(1, 100'000));
  rig.round();
  RemoteDigest other;
  other.agent = AgentId{1}, other.servers = {1, 2}, other.gpus = 8, other.version = 1;
  other.free = 4, other.largest_free_server = 4;
  rig.others = {other};
  rig.now += 5s;
  rig.submit(rigid_spec(1, 100)).forwards = 2;
  CHECK(rig.settle(TriggerKind::arrival).empty());
  CHECK(rig.policy->ask_again_at() == rig.now + 2s);
  rig.now += 2s;
  const auto made = rig.decide(TriggerKind::digest);
  REQUIRE(made.size() == 1);
  CHECK(std::holds_alternative<Forward>(made.front()));
  CHECK(rig.policy->ask_again_at() == kNever);
}

TEST_CASE("where many run newcomers are offered the GPUs of others once in ten seconds") {
  constexpr std::uint32_t kServers = 130;
  PolicyRig rig(servers(kServers), make_policy_registry().make("starling:knows=exact").value(),
                {0, kServers}, 2);
  const SharedSpeed pairs(0.7);
  rig.speed = &pairs;
  for (std::uint32_t i = 0; i < kServers * 8; ++i) rig.submit(rigid_spec(1, 100'000));
  rig.round();
  REQUIRE(rig.jobs.size() > RankPolicy::kManyRunning);
  const auto comes = [&](Duration after) {
    rig.now += after;
    rig.submit(rigid_spec(1, 100));
    rig.settle(TriggerKind::arrival);
    return !rig.jobs.back().placement.empty();
  };
  CHECK(comes(1s));
  CHECK(!comes(1s));
  CHECK(comes(10s));
  const auto left_out = rig.jobs.end() - 2;  // is offered them with the one that came last
  CHECK(!left_out->placement.empty());
}

TEST_CASE("elastic jobs share once more wait than there are GPUs, and part as they end") {
  StarlingRig rig("knows=exact");
  for (int i = 0; i < 16; ++i) rig.submit(elastic_spec(2, 4000 + 100 * i));
  rig.round();
  const auto waiting = [&] {
    return std::ranges::count_if(rig.jobs, [](const JobView& j) { return j.placement.empty(); });
  };
  rig.round(120s);
  CHECK(waiting() == 8);  // alone the shortest four would have all, two GPUs each
  while (rig.jobs.size() > 4) rig.end(0);
  for (int i = 0; i < 3; ++i) rig.round(120s);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(rig.jobs[i].placement.size() == 2);
    for (std::size_t j = 0; j < i; ++j) CHECK(!rig.shares(i, j));
  }
}

TEST_CASE("may=place stops and resizes no job, may=order resizes none") {
  for (const bool order : {false, true}) {
    StarlingRig rig(order ? "may=order,knows=exact,share=no" : "may=place,knows=exact,share=no");
    JobSpec longest = elastic_spec(8, 100'000);
    longest.workers = 6;
    rig.submit(longest);
    rig.round();
    CHECK(rig.jobs[0].placement.size() == 6);  // it could have eight
    JobSpec shorter = elastic_spec(8, 600);
    shorter.workers = 4;
    rig.submit(shorter);
    rig.round(120s);
    CHECK(rig.jobs[0].placement.size() == (order ? 0 : 6));
    CHECK(rig.jobs[1].placement.size() == (order ? 4 : 0));
  }
}

TEST_CASE("a job that could be stopped stays beside one that cannot be, round after round") {
  StarlingRig rig("knows=exact");
  for (int i = 0; i < 8; ++i) rig.submit(rigid_spec(1, 100'000));
  rig.round();
  JobSpec guest = rigid_spec(1, 5000);
  guest.run.save = 5s;
  rig.submit(guest);
  rig.settle(TriggerKind::arrival);
  REQUIRE(rig.jobs[8].placement.size() == 1);
  for (int i = 0; i < 5; ++i) {
    rig.pass(60s);
    CHECK(rig.round(60s).empty());
  }
}

TEST_CASE("a job that has waited for long is not kept out by guests that cannot be stopped") {
  StarlingRig rig("knows=exact");
  for (int i = 0; i < 8; ++i) rig.submit(rigid_spec(1, 1e6));
  rig.round();
  rig.submit(rigid_spec(8, 1000));
  rig.round();
  rig.pass(50h);  // its patience is 48
  rig.round();
  rig.submit(rigid_spec(1, 100));
  JobSpec goes = rigid_spec(1, 100);
  goes.run.save = 5s;
  rig.submit(goes);
  rig.settle(TriggerKind::arrival);
  rig.round(120s);
  CHECK(rig.jobs[9].placement.empty());
  CHECK(rig.jobs[10].placement.size() == 1);  // it can be sent away
  for (int i = 0; i < 8; ++i) rig.end(0);
  rig.round(120s);
  CHECK(rig.jobs[0].placement.size() == 8);
}

TEST_CASE("no job shares a GPU that has not the memory for both") {
  for (const auto& [model, fits] : {std::pair("neumf", true), std::pair("bert-large", false)}) {
    StarlingRig rig("knows=exact");
    for (int i = 0; i < 9; ++i) {
      JobSpec job = rigid_spec(1, i < 8 ? 100'000 : 100);
      job.model = model;
      rig.submit(job);
      rig.round();
    }
    CHECK(rig.jobs[8].placement.size() == (fits ? 1 : 0));
  }
}

TEST_CASE("a new life leaves pairs as they are, and says why they are") {
  StarlingRig rig("knows=exact");
  for (int i = 0; i < 16; ++i) rig.submit(elastic_spec(2, 4000 + 100 * i));
  rig.round();
  for (int i = 0; i < 3; ++i) rig.pass(60s), rig.round(60s);
  const auto pairs = [&] {
    std::size_t count = 0;
    for (std::size_t i = 0; i < rig.jobs.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) count += rig.shares(i, j) ? 1 : 0;
    }
    return count;
  };
  REQUIRE(pairs() > 0);
  const std::vector<std::byte> memory = rig.policy->save(rig.now);
  rig.policy = make_policy_registry().make("starling:knows=exact").value();
  REQUIRE(rig.policy->restore(memory, rig.now));
  const std::size_t before = pairs();
  rig.pass(60s);
  CHECK(rig.round(60s).empty());
  CHECK(pairs() == before);
  std::size_t say = 0;
  for (std::size_t i = 0; i < rig.jobs.size(); ++i)
    say += says(rig.why(i), "it shares them with") ? 1 : 0;
  CHECK(say == 2 * before);
}

/// Sixteen jobs of one GPU each, once eight pairs of them have the eight GPUs.
struct PairsRig : StarlingRig {
  explicit PairsRig(const std::string& options) : StarlingRig(options, 0.8) {
    for (int i = 0; i < 16; ++i) submit(elastic_spec(1, 20'000 + 1000 * i));
    for (int i = 0; i < 4; ++i) round(120s);
  }
  [[nodiscard]] std::size_t pairs() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) count += shares(i, j) ? 1 : 0;
    }
    return count;
  }
};

TEST_CASE("two that share GPUs part once there are enough for both") {
  PairsRig rig("knows=exact");
  REQUIRE(rig.pairs() == 8);
  for (int i = 0; i < 8; ++i) rig.end(0);
  for (int i = 0; i < 4; ++i) rig.round(120s);
  CHECK(rig.pairs() == 0);
  for (const JobView& job : rig.jobs) CHECK(job.placement.size() == 1);
}

TEST_CASE("two that share GPUs do not part because others have become shorter") {
  const auto moved = [](const std::string& options) {
    PairsRig rig(options);
    std::vector<Placement> before;
    for (const JobView& job : rig.jobs) before.push_back(job.placement);
    for (std::size_t i = 0; i < 16; ++i)
      rig.specs[i].duration = from_seconds(50'000 - 2000 * static_cast<double>(i));
    for (int i = 0; i < 3; ++i) rig.pass(60s), rig.round(60s);
    std::size_t count = 0;
    for (std::size_t i = 0; i < 16; ++i) count += rig.jobs[i].placement == before[i] ? 0 : 1;
    return count;
  };
  CHECK(moved("knows=exact") < moved("knows=exact,keep=no"));
}

TEST_CASE("a gang that is worth more than those that share its GPUs has them") {
  StarlingRig rig("knows=exact", 0.8);
  for (int i = 0; i < 16; ++i) rig.submit(elastic_spec(1, 1e6));
  rig.round();
  for (int i = 0; i < 3; ++i) rig.round(120s);
  REQUIRE(rig.jobs[15].placement.size() == 1);
  rig.submit(rigid_spec(8, 300));
  for (int i = 0; i < 3; ++i) rig.round(120s);
  CHECK(rig.jobs[16].placement.size() == 8);
}

TEST_CASE("in random worlds in which sharing pays nothing is decided that may not be") {
  const PolicyRegistry registry = make_policy_registry();
  double shared = 0, alone = 0;
  std::uint32_t kept = 0, anew = 0;  // starts
  for (const std::string text :
       {"starling", "starling:keep=no", "starling:may=order", "starling:may=place",
        "starling:knows=exact", "starling:share=no"}) {
    CAPTURE(text);
    Rng rng(2025);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      GeneratorOptions options;
      options.groups = {{2 + rng.below(2), "V100"}};
      if (seed % 2 == 0) options.groups.push_back({2, "P100"});
      options.servers_per_rack = 2;
      const Topology topology = generate_leaf_spine(options).value();
      const Trace trace = battery_trace(rng.fork(seed), 120, topology);
      for (const std::uint32_t agents : {1U, 2U}) {
        const SharedSpeed speed(0.8);
        TestWorld world(topology, registry, text, {agents, seed, 0.1, &speed});
        world.run(trace);
        CHECK_MESSAGE(world.faults.empty(), (world.faults.empty() ? "" : world.faults.front()));
        for (const TestWorld::Job& job : world.jobs) {
          CHECK(job.finished != kNever);
          if (!job.spec.elastic() || text == "starling:may=place") CHECK(job.starts == 1);
          if (text == "starling") kept += job.starts;
          if (text == "starling:keep=no") anew += job.starts;
        }
        if (text == "starling") shared += world.mean_jct_s();
        if (text == "starling:share=no") alone += world.mean_jct_s();
      }
    }
  }
  CHECK(shared < alone);
  CHECK(kept < anew);
}

}  // namespace
}  // namespace starling
