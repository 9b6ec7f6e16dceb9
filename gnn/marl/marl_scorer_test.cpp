// SPDX-License-Identifier: Apache-2.0
#include "gnn/marl/marl_scorer.h"

#include <doctest/doctest.h>

#include <limits>

#include "gnn/wiring/registry.h"
#include "policies/testing/battery.h"
#include "policies/testing/test_aborts.h"

namespace starling {
namespace {

PolicyRegistry registry() {
  PolicyRegistry out = make_policy_registry();
  add_gnn_policies(out);
  return out;
}

constexpr PolicyFacts kFacts{.name = "marl",
                             .summary = "a net of a test",
                             .family = Family::placement,
                             .needs_running = true,
                             .shares_gpus = true};

/// A net that scores every option by its skip weights alone.
Weights plain_weights() {
  Weights out;
  const auto row = static_cast<std::uint32_t>(Features::kRow);
  out.tensors["actor.0.weight"] = {{1, row}, std::vector<float>(row)};
  out.tensors["actor.0.bias"] = {{1}, {0}};
  out.tensors["skip"] = {{Features::kOwn}, std::vector<float>(Features::kOwn)};
  return out;
}

TestWorld run(const Topology& topology, const Trace& trace, const SpeedModel& speed,
              const Weights& weights) {
  TestWorld::Options options;
  options.model = &speed;
  options.make = [&] {
    return std::make_unique<PlacementPolicy>(
        PlacementSystem{kFacts,
                        {},
                        PlacementOrder::forecast,
                        std::make_unique<MarlScorer>(MarlNet::make(weights).value())});
  };
  TestWorld world(topology, make_policy_registry(), "fifo", options);
  world.run(trace);
  return world;
}

TEST_CASE("the shipped learned policies hold what every policy must") {
  run_policy_battery(registry(), "marl", true);
  run_policy_battery(registry(), "marl");
  run_policy_battery(registry(), "harmony", true);
}

TEST_CASE("the shipped learned policies run the most urgent first") {
  for (const char* text : {"marl", "marl:order=arrival", "harmony", "marl-search"})
    run_priority_battery(registry(), text);
}

TEST_CASE("a net that answers no numbers leaves the decision to the rule") {
  const Topology topology = generate_flat({.servers = 3, .gpus_per_server = 4}).value();
  const CrowdedSpeed speed(topology);
  const Trace trace = battery_trace(Rng(4), 60, topology);
  Weights broken = plain_weights();
  broken.tensors.at("skip").values.assign(Features::kOwn, std::numeric_limits<float>::max());
  Weights rule = plain_weights();
  const TestWorld world = run(topology, trace, speed, broken);
  CHECK(world.faults.empty());
  for (const TestWorld::Job& job : world.jobs) CHECK(job.finished != kNever);
  // Under the rule no job shares at a tenth of the speed; the net that is indifferent takes what
  // comes first.
  CHECK(world.hash.value() != run(topology, trace, speed, rule).hash.value());
}

TEST_CASE("only the decision that was scored last is observed") {
  struct Observes final : Chooser {
    std::size_t choose(const DecisionPoint& point, std::span<const double> scores) override {
      CHECK(static_cast<bool>(net->observe(point)));
      JobView other = point.job;
      ++other.order;
      const DecisionPoint next{point, point.request, other, point.out, point.options};
      CHECK(aborts([&] { (void)net->observe(next); }));
      ++seen;
      return best_of(scores);
    }
    MarlScorer* net = nullptr;
    int seen = 0;
  } chooser;
  const Topology topology = generate_flat({.servers = 2, .gpus_per_server = 4}).value();
  const CrowdedSpeed speed(topology);
  const Occupancy gpus(topology, {0, 2}, 2);
  JobSpec spec;
  std::vector<JobView> waiting(1);
  waiting[0].spec = &spec;
  auto scorer = std::make_unique<MarlScorer>(MarlNet::make(plain_weights()).value());
  chooser.net = scorer.get();
  PlacementPolicy marl({kFacts, {}, PlacementOrder::forecast, std::move(scorer)}, &chooser);
  Rng rng(1);
  (void)marl.decide({topology, gpus, waiting, {}, {}, speed, Instant{}, AgentId{0}}, {}, rng);
  CHECK(chooser.seen == 1);
}

/// Two agents whose digests carry `summary`; what the first decides.
std::uint64_t decisions_under(std::vector<float> summary, float weight, AblationMask mask = {}) {
  GeneratorOptions generate;
  generate.groups = {{2, "P100"}, {2, "V100"}};
  generate.gpus_per_server = 4;
  const Topology topology = generate_leaf_spine(generate).value();
  const CrowdedSpeed speed(topology);
  Weights weights = plain_weights();
  auto& first = weights.tensors.at("actor.0.weight").values;
  for (std::size_t i = first.size() - EncoderNet::kWidth; i < first.size(); ++i) first[i] = weight;
  Rng random(8);
  for (const auto& [name, in] :
       {std::pair{"gpu", EncoderNet::kGpu}, std::pair{"island", 18U}, std::pair{"socket", 16U},
        std::pair{"server", 22U}, std::pair{"tree", 20U}, std::pair{"inside", 32U},
        std::pair{"place", 32U}, std::pair{"group", 48U}}) {
    Tensor layer{{EncoderNet::kWidth, in}, std::vector<float>(EncoderNet::kWidth * in)};
    for (float& value : layer.values) value = static_cast<float>(random.normal() * 0.1);
    weights.tensors["encoder." + std::string(name) + ".weight"] = layer;
    weights.tensors["encoder." + std::string(name) + ".bias"] = {
        {EncoderNet::kWidth}, std::vector<float>(EncoderNet::kWidth)};
  }
  auto scorer = std::make_unique<MarlScorer>(MarlNet::make(weights).value());
  scorer->hide(mask);
  PlacementPolicy marl({kFacts, {}, PlacementOrder::forecast, std::move(scorer)});
  CHECK(marl.summary().empty());
  Occupancy gpus(topology, {0, 2}, 2);
  gpus.take(Placement{GpuId{0}});
  const Trace trace = battery_trace(Rng(4), 6, topology);
  std::vector<JobView> waiting(1), running(1);
  JobSpec small = trace.jobs[0].spec, other = trace.jobs[1].spec;
  small.workers = other.workers = small.gpus_per_worker = other.gpus_per_worker = 1;
  small.gpu_types = other.gpu_types = {};
  waiting[0].spec = &small;
  running[0].spec = &other;
  running[0].placement = {GpuId{0}};
  running[0].order = 1;
  waiting[0].order = 2;
  const GpuTypeId v100 = topology.server(ServerId{2}).gpu_type;
  const TypeRoom room{v100, 8, 4, 0};
  // The second one has nothing to go to, and says zeros.
  const std::vector<float> zeros(EncoderNet::kWidth);
  std::vector<RemoteDigest> others(2);
  others[0] = {AgentId{1}, PartitionId{1}, 8, 8, 4, 2, 0, 0, Instant{}, {2, 4}};
  others[0].types = std::span(&room, 1);
  others[0].summary = summary;
  others[1].agent = AgentId{2};
  others[1].summary = zeros;
  const View view{topology, gpus, waiting, running, others, speed, Instant{}, AgentId{0}};
  Rng rng(1);
  const auto decisions = marl.decide(view, {}, rng);
  CHECK(marl.summary().size() == EncoderNet::kWidth);
  REQUIRE(decisions.size() == 1);
  return decisions.front().index();
}

TEST_CASE("what another agent says of its partition counts only if it is an embedding") {
  constexpr std::size_t kStart = 0, kForward = 3;
  const std::vector<float> good(EncoderNet::kWidth, 1.0F);
  // The row of going there sees that agent's words, all others the mean of both.
  CHECK(decisions_under(good, 10) == kForward);
  CHECK(decisions_under(good, -10) == kStart);
  CHECK(decisions_under(good, 10, {.digests = true}) == kStart);
  std::vector<float> bad = good;
  CHECK(decisions_under(std::vector<float>(EncoderNet::kWidth + 1, 1.0F), 10) == kStart);
  CHECK(decisions_under({}, 10) == kStart);
  std::ranges::fill(bad, std::numeric_limits<float>::quiet_NaN());
  CHECK(decisions_under(bad, 10) == kStart);
  std::ranges::fill(bad, std::numeric_limits<float>::max());
  CHECK(decisions_under(bad, 10) == kForward);
}

TEST_CASE("behind an ablation mask a job among others is as fast as alone") {
  const Topology topology = generate_flat({.servers = 2, .gpus_per_server = 4}).value();
  const CrowdedSpeed speed(topology);
  const Occupancy gpus(topology, {0, 2}, 2);
  const View view{topology, gpus, {}, {}, {}, speed, Instant{}, AgentId{0}};
  IsolatedSpeed isolated;
  const JobProfile job{.model = "ResNet-50"};
  const Placement there{GpuId{1}};
  const Neighbours beside{{job, there}};
  const auto among = [&](const AblationMask& mask) {
    return isolated.seen_with(mask, view).speed.speed(job, there, beside).relative;
  };
  CHECK(among({}) < 1);
  CHECK(among({.interference = true}) == speed.speed(job, there, {}).relative);
}

TEST_CASE("weights of something else are refused by name") {
  const PolicyRegistry all = registry();
  const auto missing = all.make("marl:weights=/nowhere/x.weights");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("/nowhere/x.weights") != std::string::npos);
  Weights weights = plain_weights();
  weights.tensors.erase("skip");
  const auto net = MarlNet::make(weights);
  REQUIRE_FALSE(net);
  CHECK(net.error().message.find("skip") != std::string::npos);
}

TEST_CASE("weights that are named but empty are not the shipped ones") {
  const PolicyRegistry all = registry();
  for (const char* text : {"marl:weights=", "harmony:weights=,order=arrival",
                           "marl-search:weights=", "marl-search:base=marl,weights="}) {
    CAPTURE(text);
    const auto made = all.make(text);
    REQUIRE_FALSE(made);
    CHECK(made.error().code == Errc::invalid);
    CHECK(made.error().message.find("option weights is empty; give a file, or leave it out") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace starling
