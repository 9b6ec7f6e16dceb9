// SPDX-License-Identifier: Apache-2.0
// Whether a gang is co-allocated is a decision as any other: who is asked, what is shown.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <list>

#include "policies/lif/lif.h"
#include "policies/placement/placement_policy.h"
#include "policies/registry.h"
#include "policies/testing/battery.h"

namespace starling {
namespace {

/// Each of three agents has one server of four V100s. Here gangs of eight wait, which no agent can
/// hold alone; there everything is free.
class Three {
 public:
  explicit Three(std::size_t gangs = 1)
      : topology(make()), speed(topology), gpus(topology, {0, 1}) {
    for (std::uint32_t agent = 1; agent < 3; ++agent) {
      RemoteDigest d;
      d.agent = AgentId{agent};
      d.servers = {agent, agent + 1};
      d.gpus = d.free = d.largest_free_server = 4;
      d.whole_free_servers = 1;
      d.at = now;
      others.push_back(d);
    }
    for (std::size_t i = 0; i < gangs; ++i) {
      JobSpec& spec = specs.emplace_back();
      spec.id = JobId{1, i + 1};
      spec.model = "resnet50";
      spec.workers = 8;
      JobView& job = waiting.emplace_back();
      job.spec = &spec;
      job.order = i + 1;
      job.submitted = now;
    }
  }
  std::vector<Decision> decide(PlacementPolicy& policy) {
    Rng rng(1);
    return policy.decide(view(), {}, rng);
  }
  [[nodiscard]] View view() const {
    return {topology, gpus, waiting, {}, others, speed, now, AgentId{0}};
  }
  Topology topology;
  CrowdedSpeed speed;
  Occupancy gpus;
  Instant now = Instant{} + std::chrono::hours(1);
  std::vector<RemoteDigest> others;
  std::list<JobSpec> specs;
  std::vector<JobView> waiting;

 private:
  static Topology make() {
    GeneratorOptions options;
    options.servers = 3;
    options.gpus_per_server = 4;
    options.gpu_type = "V100";
    return generate_flat(options).value();
  }
};

/// Lets gangs wait, or not, and keeps what it saw.
struct Asked final : Chooser {
  Asked(bool asks, bool waits) : asks_gangs(asks), gangs_wait(waits) {}
  [[nodiscard]] bool co_allocates() const override { return asks_gangs; }
  [[nodiscard]] std::size_t choose(const DecisionPoint& point,
                                   std::span<const double> scores) override {
    if (point.options.front().kind != OptionKind::co_allocate) return best_of(scores);
    ++gangs;
    REQUIRE(point.options.size() == 2);
    CHECK(point.may_wait());
    CHECK(point.starts() == 0);
    const CoAllocationPlan& plan = *point.options.front().plan;
    CHECK(plan.speed == doctest::Approx(0.67));  // over several servers
    CHECK(plan.elsewhere == 8);
    CHECK(plan.share.size() == 4);
    CHECK(scores[0] > scores[1]);
    return gangs_wait ? 1 : 0;
  }
  bool asks_gangs, gangs_wait;
  int gangs = 0;
};

/// As Lif, and scores co-allocating.
struct Weighs final : Scorer {
  explicit Weighs(double gang_score) : gang(gang_score) {}
  [[nodiscard]] PlacementRules rules() const override {
    PlacementRules rules = lif.rules();
    rules.co_allocates = true;
    return rules;
  }
  Scored score(const DecisionPoint& point, std::span<double> scores) override {
    if (point.options.front().kind != OptionKind::co_allocate) return lif.score(point, scores);
    scores[0] = gang;
    return {};
  }
  Lif lif{0.3};
  double gang;
};

PlacementSystem system(std::unique_ptr<Scorer> scorer = nullptr) {
  PlacementSystem made = make_policy_registry().make_placement("lif:threshold=0.3").value();
  if (scorer) made.scorer = std::move(scorer);
  return made;
}

TEST_CASE("a gang that no partition can hold alone is co-allocated, one in a call") {
  Three world(2);
  PlacementPolicy policy(system());
  const auto out = world.decide(policy);
  REQUIRE(out.size() == 1);
  const auto& spread = std::get<Spread>(out.front());
  CHECK(spread.job == JobId{1, 1});
  CHECK(spread.local.size() == 4);
  CHECK(spread.type == world.topology.server(ServerId{0}).gpu_type);
}

TEST_CASE("a chooser that asks for it decides whether a gang is co-allocated") {
  Three world(2);
  SUBCASE("it lets the first wait, and the second") {
    Asked chooser(true, true);
    PlacementPolicy policy(system(), &chooser);
    CHECK(world.decide(policy).empty());
    CHECK(chooser.gangs == 2);
  }
  SUBCASE("it takes the first") {
    Asked chooser(true, false);
    PlacementPolicy policy(system(), &chooser);
    CHECK(world.decide(policy).size() == 1);
    CHECK(chooser.gangs == 1);
  }
  SUBCASE("it does not ask, and sees nothing of it") {
    Asked chooser(false, true);
    PlacementPolicy policy(system(), &chooser);
    CHECK(world.decide(policy).size() == 1);
    CHECK(chooser.gangs == 0);
  }
}

TEST_CASE("a scorer that asks for it scores co-allocating") {
  Three world;
  PlacementPolicy eager(system(std::make_unique<Weighs>(1)));
  CHECK(world.decide(eager).size() == 1);
  PlacementPolicy shy(system(std::make_unique<Weighs>(-1)));
  CHECK(world.decide(shy).empty());
}

/// Nothing is free, here and elsewhere; four GPUs of each other partition have one job.
struct Crowded : Three {
  Crowded() {
    gpus = Occupancy(topology, {0, 1}, 2);
    gpus.take(Placement{GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}});
    for (RemoteDigest& d : others) {
      d.free = d.largest_free_server = d.whole_free_servers = 0;
      d.types = types;
    }
    specs.front().workers = 8;
  }
  const TypeRoom room{GpuTypeId{0}, 0, 0, 4};
  const std::span<const TypeRoom> types{&room, 1};
};

PlacementSystem sharing() {
  return make_policy_registry().make_placement("lif:threshold=0.3,gangs=shared").value();
}

TEST_CASE("a gang for which free GPUs are not enough asks for such as it would share") {
  Crowded world;
  PlacementPolicy free_ones(system());
  CHECK(world.decide(free_ones).empty());
  PlacementPolicy policy(sharing());
  const auto out = world.decide(policy);
  REQUIRE(out.size() == 1);
  const auto& spread = std::get<Spread>(out.front());
  CHECK(spread.shares);
  CHECK(spread.local.empty());
  CHECK(spread.type == GpuTypeId{0});
  const std::vector<std::string> lines = policy.explain(JobId{1, 1});
  REQUIRE(lines.size() == 3);
  CHECK(lines[1] ==
        "  taken ask for a gang over several partitions that shares GPUs, 8 of which have one job: "
        "speed alone 0.67 of its best");

  SUBCASE("and takes them where its speed, less what others lose, is enough of its best") {
    // It is 0.67 over several servers, which is its best: 8 * 0.67 * 0.8 - 0.9 = 3.4 against twice
    // 0.3 * 8 * 0.67 = 1.6.
    std::vector<CoTenant> offered{
        {JobId{2, 1}, {GpuId{4}, GpuId{5}, GpuId{6}, GpuId{7}}, 0.8, 0.4},
        {JobId{2, 2}, {GpuId{8}, GpuId{9}, GpuId{10}, GpuId{11}}, 1, 0.5}};
    const JobView& gang = world.waiting.front();
    CHECK(policy.choose_tenants(world.view(), gang, 0, offered).size() == 2);
    CHECK(policy.choose_tenants(world.view(), gang, 4, offered) == std::vector<std::size_t>{1});
    offered[0].loss = 1;
    CHECK(policy.choose_tenants(world.view(), gang, 0, offered).empty());
  }
  SUBCASE("and does not ask again at once") {
    CHECK(world.decide(policy).empty());
    world.now += std::chrono::minutes(3);
    for (RemoteDigest& d : world.others) d.at = world.now;
    CHECK(world.decide(policy).size() == 1);
  }
}

TEST_CASE("a co-allocated gang's decision is explained, and that it was refused") {
  Three world;
  PlacementPolicy policy(system());
  const auto out = world.decide(policy);
  REQUIRE(out.size() == 1);
  const std::vector<std::string> lines = policy.explain(JobId{1, 1});
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "policy: 2 options at 3600 s:");
  CHECK(lines[1] ==
        "  taken ask for a gang over several partitions, 4 GPUs of it here, 8 such free elsewhere: "
        "speed alone 0.67 of its best");
  CHECK(lines[2] == "        wait");
  policy.refused({out.front(), DecisionFault::reserved});
  REQUIRE(policy.explain(JobId{1, 1}).size() == 4);
  CHECK(policy.explain(JobId{1, 1})[1] ==
        "  refused: a gang that has waited for long starts first");
  // Whatever it decides about the job from now on was not refused.
  CHECK(world.decide(policy).empty());
}

}  // namespace
}  // namespace starling
