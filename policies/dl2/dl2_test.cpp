// SPDX-License-Identifier: Apache-2.0
#include "policies/dl2/dl2.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "policies/dl2/dl2_imitation.h"
#include "policies/dl2/test_dl2_rig.h"
#include "policies/registry.h"
#include "policies/testing/test_world.h"
#include "workload/generate/generate_dl2.h"

namespace starling {
namespace {

Dl2Shape shape_of_testbed() { return {8, {"vgg-16", "wlm"}}; }

Dl2Division::Parts parts_of(const Dl2Shape& shape, const char* incumbent = "drf") {
  Dl2Division::Parts parts;
  parts.shape = shape;
  parts.incumbent = dl2_incumbent(incumbent);
  return parts;
}

/// Workers and servers of every job after the first division of a round.
std::vector<TaskCounts> divided(Dl2Division& division, Dl2Rig& rig) {
  std::vector<ElasticShare> shares = rig.shares();
  const View view = rig.view();
  const Shape shape = shape_of(rig.gpus);
  const ElasticCall call{view, shape, rig.gpus};
  division.begin_round(call);
  division.divide(call, rig.all(), rig.all(), shares);
  std::vector<TaskCounts> out;
  for (const ElasticShare& share : shares) {
    TaskCounts tasks{share.workers, 0};
    if (share.workers > 0) {
      const auto place = division.find_workers(call, rig.gpus, *share.job->spec, share.workers);
      REQUIRE(place.has_value());
      const Allocation how = division.allocation(call, *share.job->spec, *place);
      tasks.servers = how.servers > 0 ? how.servers : servers_at(*share.job->spec, share.workers);
    }
    out.push_back(tasks);
  }
  return out;
}

/// A net whose score of an action is a number by kind and type, whatever else it sees.
Weights told(const Dl2Shape& shape, double void_score, const std::vector<double>& by_type) {
  Weights weights;
  put_shape(weights, shape);
  Tensor weight{
      {static_cast<std::uint32_t>(shape.actions()), static_cast<std::uint32_t>(shape.inputs())},
      std::vector<float>(shape.actions() * shape.inputs(), 0.0F)};
  Tensor bias{{static_cast<std::uint32_t>(shape.actions())},
              std::vector<float>(shape.actions(), 0.0F)};
  for (std::size_t job = 0; job < shape.window; ++job) {
    for (std::size_t type = 0; type < by_type.size(); ++type) {
      const std::size_t row = 3 * job + 2;  // both
      weight.values[row * shape.inputs() + job * shape.width() + type] =
          static_cast<float>(by_type[type]);
    }
  }
  bias.values.back() = static_cast<float>(void_score);
  weights.tensors = {{"actor.0.weight", weight}, {"actor.0.bias", bias}};
  return weights;
}

TEST_CASE(
    "a net gives tasks to the job that it scores highest, until it says that none gets more") {
  const Dl2Shape shape = shape_of_testbed();
  Dl2Rig rig(4);
  rig.add("wlm", 3);
  rig.add("vgg-16", 16);
  rig.add("wlm", 16);
  Dl2Division::Parts parts = parts_of(shape);
  SUBCASE("to one type first, then to the other") {
    parts.net = Dl2Net::make(told(shape, -5, {1, 2})).value();
    Dl2Division division(std::move(parts));
    // Eight GPUs: one each, two more for the first wlm, three more for the other.
    CHECK(divided(division, rig) == std::vector<TaskCounts>{{3, 3}, {1, 1}, {4, 4}});
    const auto why = division.explain(rig.specs[2].id);
    REQUIRE(why.size() == 1);
    CHECK(why[0].find("its net gave it 4 workers and 4 parameter servers, by 3 inferences") !=
          std::string::npos);
  }
  SUBCASE("no job gets more") {
    parts.net = Dl2Net::make(told(shape, 5, {1, 2})).value();
    Dl2Division division(std::move(parts));
    CHECK(divided(division, rig) == std::vector<TaskCounts>{{1, 1}, {1, 1}, {1, 1}});
  }
  SUBCASE("what a net cannot answer its incumbent divides") {
    Weights broken = told(shape, 5, {1, 2});
    broken.tensors["actor.0.bias"].values[0] = 3e38F;
    broken.tensors["actor.0.weight"].values[1] = 3e38F;  // of the first job's second type
    parts.net = Dl2Net::make(broken).value();
    Dl2Division division(std::move(parts));
    CHECK(divided(division, rig) == std::vector<TaskCounts>{{3, 3}, {3, 3}, {2, 2}});
    CHECK(division.explain(rig.specs[0].id).at(0).find("its incumbent") != std::string::npos);
  }
  SUBCASE("more jobs than a window holds are scored in blocks") {
    for (int i = 0; i < 8; ++i) rig.add(i == 7 ? "wlm" : "vgg-16", 16);
    Dl2Rig larger(13);
    larger.specs = rig.specs;
    larger.ages = rig.ages;
    parts.net = Dl2Net::make(told(shape, -5, {1, 2})).value();
    Dl2Division division(std::move(parts));
    const auto counts = divided(division, larger);
    CHECK(counts[2].workers == 14);  // the first wlm that may still grow
    CHECK(counts[10].workers == 1);
  }
}

TEST_CASE("what a net remembers of its blocks is what it would see if it looked anew") {
  const Dl2Shape shape{4, {"vgg-16", "wlm"}};
  Rng rng(3), none(1);
  const std::vector<std::uint32_t> hidden{16};
  Weights weights;
  put_shape(weights, shape);
  TrainableMlp mlp(Dl2Head::widths(shape, Dl2Head::Kind::actor, hidden), rng);
  for (float& p : mlp.parameters()) p += static_cast<float>(0.5 * rng.normal());
  mlp.parameters().back() -= 50;  // it never stops by itself
  mlp.put(weights, "actor.");
  Dl2Rig rig(20);
  for (int i = 0; i < 10; ++i) rig.add(i % 3 == 0 ? "wlm" : "vgg-16", 6, 500.0 * i);
  const auto shares = rig.shares();
  const View view = rig.view();
  const Shape rig_shape = shape_of(rig.gpus);
  const ElasticCall call{view, rig_shape, rig.gpus};
  Dl2Slot slot(shape, call, rig.all(), rig.all(), shares, 1200, 100);
  slot.begin();
  Dl2Net net = Dl2Net::make(weights).value();
  net.look(slot);
  std::size_t steps = 0;
  for (; slot.allows_any(); ++steps) {
    Dl2Net anew = Dl2Net::make(weights).value();
    anew.look(slot);
    const auto choice = net.choose(slot, 0, none), expected = anew.choose(slot, 0, none);
    REQUIRE(choice->action.has_value());
    CHECK(choice->action == expected->action);
    CHECK(choice->probability == doctest::Approx(expected->probability));
    slot.take(*choice->action);
    net.took(slot, *choice->action);
  }
  CHECK(steps > 30);
}

TEST_CASE("before any training it gives what its incumbent does") {
  Dl2Rig rig(4);
  rig.add("wlm", 3);
  rig.add("vgg-16", 16);
  std::vector<Dl2Example> shown;
  Dl2Division::Parts parts = parts_of(shape_of_testbed());
  parts.show = [&](Dl2Example example) { shown.push_back(std::move(example)); };
  Dl2Division division(std::move(parts));
  CHECK(divided(division, rig) == std::vector<TaskCounts>{{3, 3}, {5, 5}});
  // One each is where it begins; then in turn until the first has all, and the rest to the second.
  std::vector<std::size_t> actions;
  for (const Dl2Example& example : shown) {
    CHECK(example.mask[example.action] == 1);
    actions.push_back(example.action);
  }
  CHECK(actions == std::vector<std::size_t>{2, 5, 2, 5, 5, 5});
}

TEST_CASE("a net of either head learns what its incumbent does") {
  Dl2Shape shape = shape_of_testbed();
  Rng rng(4);
  const auto draw = [&](int draws) {
    std::vector<Dl2Example> shown;
    for (int i = 0; i < draws; ++i) {
      Dl2Rig rig(6);
      const std::uint32_t jobs = 1 + rng.below(6);
      for (std::uint32_t j = 0; j < jobs; ++j)
        rig.add(rng.chance(0.5) ? "wlm" : "vgg-16", 16, 6000 * rng.uniform());
      Dl2Division::Parts parts = parts_of(shape);
      parts.show = [&](Dl2Example example) { shown.push_back(std::move(example)); };
      Dl2Division division(std::move(parts));
      (void)divided(division, rig);
    }
    return shown;
  };
  const auto examples = draw(120), held = draw(40);
  const std::vector<std::uint32_t> hidden{32};
  for (const bool shared : {false, true}) {
    CAPTURE(shared);
    shape.shared = shared;
    const auto widths = Dl2Head::widths(shape, Dl2Head::Kind::actor, hidden);
    Dl2Head actor(shape, Dl2Head::Kind::actor, TrainableMlp(widths, rng));
    CHECK(agreement(actor, held) < 0.5);
    Dl2ImitationOptions how;
    how.batch = 64;
    imitate(actor, shape, examples, how);
    CHECK(agreement(actor, held) > (shared ? 0.95 : 0.85));  // of so few examples
  }
}

TEST_CASE("a net that is too large to be kept does not learn") {
  const Dl2Shape shape{20, {"vgg-16", "wlm"}};
  Rng rng(1);
  const auto folder = std::filesystem::temp_directory_path() / "starling-dl2-test";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "wide.weights").string();
  const auto registry = make_policy_registry();
  for (const std::uint32_t hidden : {32U, 256U}) {
    const std::uint32_t layers[] = {hidden, hidden};
    Weights weights;
    put_shape(weights, shape);
    TrainableMlp(Dl2Head::widths(shape, Dl2Head::Kind::actor, layers), rng).put(weights, "actor.");
    REQUIRE(save_weights(file, weights).ok());
    CHECK(registry.make("dl2:weights=" + file).ok());
    const auto learns = registry.make("dl2:learn=yes,weights=" + file);
    CHECK(learns.ok() == (hidden == 32));
    if (!learns)
      CHECK(learns.error().message.find("bytes, more than 524288;") != std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("weights that are of something else are named") {
  Weights weights = told(shape_of_testbed(), 0, {0, 0});
  weights.notes["window"] = "nine";
  CHECK(Dl2Net::make(weights).error().message.find("note window is 'nine'") == 0);
  weights.notes["window"] = "9";
  CHECK(Dl2Net::make(weights).error().message.find("actor. takes 72 numbers") == 0);
  weights = told(shape_of_testbed(), 0, {0, 0});
  weights.notes["actor.activation"] = "tanh";
  CHECK(Dl2Net::make(weights).error().message.find("note actor.activation is 'tanh'") == 0);
  const auto registry = make_policy_registry();
  CHECK(registry.make("dl2:weights=/nowhere").error().message.find("/nowhere") !=
        std::string::npos);
}

}  // namespace
}  // namespace starling
