// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "policies/dl2/dl2.h"
#include "policies/dl2/test_dl2_rig.h"

// What becomes of a net's choice where not all of it finds a place, and what it says of it.

namespace starling {
namespace {

const Dl2Shape kFourJobs{4, {"vgg-16", "wlm"}};

/// Workers alone, until a job has three: its score of one more is 10 less 4 for each that it has,
/// and 0 is that of nothing more.
Weights three_workers() {
  const auto inputs = static_cast<std::uint32_t>(kFourJobs.inputs());
  const auto actions = static_cast<std::uint32_t>(kFourJobs.actions());
  Weights weights;
  put_shape(weights, kFourJobs);
  Tensor weight{{actions, inputs}, std::vector<float>(std::size_t{actions} * inputs, 0.0F)};
  Tensor bias{{actions}, std::vector<float>(actions, -5.0F)};
  const std::size_t quarter_of_workers = kFourJobs.types.size() + 1 + 4;
  for (std::size_t job = 0; job < kFourJobs.window; ++job) {
    bias.values[3 * job] = 10;
    weight.values[3 * job * inputs + job * kFourJobs.width() + quarter_of_workers] = -16;
  }
  bias.values.back() = 0;
  weights.tensors = {{"actor.0.weight", weight}, {"actor.0.bias", bias}};
  return weights;
}

Dl2Division::Parts by_net() {
  Dl2Division::Parts parts;
  parts.shape = kFourJobs;
  parts.incumbent = dl2_incumbent("drf");
  parts.net = Dl2Net::make(three_workers()).value();
  return parts;
}

/// What the policy starts at a round at which everybody waits.
std::vector<Start> started(Policy& policy, Dl2Rig& rig) {
  (void)rig.shares();
  const View view{rig.topology, rig.gpus, rig.views, {}, {}, *rig.speed, rig.now, AgentId{0}};
  Rng rng(1);
  std::vector<Start> starts;
  for (const Decision& decision : policy.decide(view, {TriggerKind::round}, rng))
    if (const auto* start = std::get_if<Start>(&decision)) starts.push_back(*start);
  return starts;
}

void says(const std::vector<std::string>& lines, const std::string& text) {
  REQUIRE(lines.size() == 1);
  CAPTURE(lines.front());
  CHECK(lines.front().find(text) != std::string::npos);
}

/// Shares out a round, the job of that index first.
void divide_first(Dl2Division& division, Dl2Rig& rig, std::size_t first) {
  auto shares = rig.shares();
  std::swap(shares[0], shares[first]);
  const View view = rig.view();
  const Shape shape = shape_of(rig.gpus);
  const ElasticCall call{view, shape, rig.gpus};
  division.begin_round(call);
  division.divide(call, rig.all(), rig.all(), shares);
}

TEST_CASE("a job that finds no place here changes nothing of what others were given") {
  Dl2Rig rig(4);
  rig.add("wlm", 16);
  auto policy = make_dl2(kDl2Slot, by_net());
  SUBCASE("alone") {}
  SUBCASE("beside one of a type that there is none of") {
    rig.add("wlm", 16).gpu_types = {"A100"};
    REQUIRE(started(*policy, rig).size() == 1);
    says(policy->explain(rig.specs[1].id), "no GPU of this partition is of a type");
  }
  SUBCASE("beside one whose workers need more CPUs than a server has") {
    rig.add("wlm", 16).cpus_per_worker = 10;
    REQUIRE(started(*policy, rig).size() == 1);
    says(policy->explain(rig.specs[1].id),
         "its net had 2 workers and 1 parameter server for "
         "it, and there was no place for the fewest");
  }
  policy = make_dl2(kDl2Slot, by_net());
  const auto starts = started(*policy, rig);
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].job == rig.specs[0].id);
  CHECK(starts[0].placement.size() == 3);
  CHECK(starts[0].allocation == Allocation{3, 1, 0, 0, false});
  says(policy->explain(rig.specs[0].id),
       "its net gave it 3 workers and 1 parameter server, by 2 inferences");
}

TEST_CASE("a job that is beyond the window is told so, whatever it had in an earlier slot") {
  Dl2Rig rig(4);
  rig.add("wlm", 16);
  rig.add("vgg-16", 16);
  Dl2Division::Parts parts = by_net();
  parts.window = 1;
  Dl2Division division(std::move(parts));
  divide_first(division, rig, 0);
  says(division.explain(rig.specs[0].id), "gave it 3 workers");
  says(division.explain(rig.specs[1].id), "beyond the first 1 job that its net sees");
  divide_first(division, rig, 1);
  says(division.explain(rig.specs[0].id), "beyond the first 1 job that its net sees");
  says(division.explain(rig.specs[1].id), "gave it 3 workers");
}

TEST_CASE("why an incumbent lets a job wait is not guessed, and a job that has left is forgotten") {
  Dl2Rig rig(1);
  for (int i = 0; i < 3; ++i) rig.add("wlm", 4);
  Dl2Division::Parts parts = by_net();
  SUBCASE("a net has but one reason") {
    Dl2Division division(std::move(parts));
    divide_first(division, rig, 0);
    says(division.explain(rig.specs[2].id),
         "its net left it waiting in the last slot: there "
         "was no room");
    const DepartedJob gone{
        std::make_shared<const JobSpec>(rig.specs[2]), JobFate::cancelled, 3, {}, {}};
    View view = rig.view();
    view.departed = std::span(&gone, 1);
    division.observe(view);
    CHECK(division.explain(rig.specs[2].id).empty());
  }
  SUBCASE("an incumbent") {
    parts.net.reset();
    Dl2Division division(std::move(parts));
    divide_first(division, rig, 0);
    const auto lines = division.explain(rig.specs[2].id);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0] == "policy: its incumbent left it waiting in the last slot");
  }
}

TEST_CASE("a temperature near 0 takes the likeliest, and any other says how likely its draw was") {
  Dl2Rig rig(4);
  rig.add("wlm", 16);
  const auto shares = rig.shares();
  const View view = rig.view();
  const Shape shape = shape_of(rig.gpus);
  const ElasticCall call{view, shape, rig.gpus};
  Dl2Slot slot(kFourJobs, call, rig.all(), rig.all(), shares, 1200, 100);
  slot.begin();
  Dl2Net net = Dl2Net::make(three_workers()).value();
  net.look(slot);
  Rng rng(1);
  // Scores: 6 a worker, -5 a server, -5 both, 0 nothing more.
  for (const double cold : {0.0, 1e-300, 1e-50, 1e-4, 1e-3}) {
    const auto choice = net.choose(slot, cold, rng);
    REQUIRE(choice.has_value());
    CHECK(choice->action == Dl2Action{0, Dl2Kind::worker});
  }
  bool drew[2] = {};
  for (int i = 0; i < 50; ++i) {
    const auto choice = net.choose(slot, 6, rng).value();
    const double sum = std::exp(1) + 1 + 2 * std::exp(-5.0 / 6);
    if (!choice.action) {
      CHECK(choice.probability == doctest::Approx(1 / sum));
      drew[0] = true;
    } else if (choice.action->kind == Dl2Kind::worker) {
      CHECK(choice.probability == doctest::Approx(std::exp(1) / sum));
      drew[1] = true;
    }
  }
  CHECK((drew[0] && drew[1]));
}

}  // namespace
}  // namespace starling
