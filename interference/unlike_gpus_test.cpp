// SPDX-License-Identifier: Apache-2.0
// GPUs of one type that differ: the world goes by each, policies are not told, and a learned speed
// model finds out.
#include <doctest/doctest.h>

#include <string>

#include "interference/learned/interference_net.h"
#include "interference/models.h"
#include "interference/models/learned_speed.h"
#include "topology/file/load.h"

namespace starling {
namespace {

Topology with_speeds(const std::string& speeds) {
  return parse_topology_yaml(
             "name: t\nserver_templates: {x: {gpus: 4, gpu_type: V100, cpus: 64}}\nservers:\n"
             "  - {template: x, names: [a, b]}\n" +
                 speeds,
             "t.yaml")
      .value();
}

Placement gpus(std::initializer_list<std::uint32_t> ids) {
  Placement out;
  for (const std::uint32_t id : ids) out.emplace_back(id);
  return out;
}

JobProfile job(std::uint32_t size) { return {"ResNet-50 (batch size 64)", size, 0}; }

TEST_CASE("a gang computes as fast as its slowest GPU, and a topology without speeds as ever") {
  const auto physics = make_full_physics(with_speeds("gpu_speeds: {a: [1, 0.5, 0.8, 1]}\n"));
  const auto plain = make_full_physics(with_speeds(""));
  CHECK(physics->rate(job(1), gpus({0}), {}) == 1);
  CHECK(physics->rate(job(1), gpus({1}), {}) == doctest::Approx(0.5));
  CHECK(physics->rate(job(1), gpus({2}), {}) == doctest::Approx(0.8));
  for (const Placement& fast : {gpus({0, 3}), gpus({4, 5, 6, 7}), gpus({0, 4})}) {
    const auto size = static_cast<std::uint32_t>(fast.size());
    CHECK(physics->rate(job(size), fast, {}) == plain->rate(job(size), fast, {}));
  }
  // What it exchanges is none of the GPU's, so a gang loses a little less.
  const double four =
      physics->rate(job(4), gpus({0, 1, 2, 3}), {}) / plain->rate(job(4), gpus({0, 1, 2, 3}), {});
  CHECK(four >= 0.5);
  CHECK(four < 0.65);
  const double two = physics->rate(job(2), gpus({0, 2}), {});
  CHECK(physics->rate(job(2), gpus({0, 1}), {}) < two);
}

TEST_CASE("the analytic model is not told; the learned one learns it, within bounds, for good") {
  const Topology topology = with_speeds("gpu_speeds: {a: [1, 0.5, 0.8, 1]}\n");
  const auto physics = make_full_physics(topology);
  CHECK(make_analytic_speed(topology)->speed(job(1), gpus({1}), {}).relative == 1);
  const auto weights = shipped_interference();
  REQUIRE(weights.ok());
  const auto speed = make_learned_speed(topology, weights.value()).value();
  CHECK(speed->speed(job(1), gpus({1}), {}).relative == 1);
  CHECK(speed->state().empty());
  const std::uint64_t before = speed->version();
  for (int i = 0; i < 40; ++i) {
    for (const Placement& gang : {gpus({0, 1}), gpus({2, 3}), gpus({1}), gpus({0, 3}), gpus({4})}) {
      const JobProfile one = job(static_cast<std::uint32_t>(gang.size()));
      speed->observe(one, gang, {}, physics->rate(one, gang, {}));
    }
  }
  CHECK(speed->version() > before);
  CHECK(speed->speed(job(1), gpus({1}), {}).relative == doctest::Approx(0.5).epsilon(0.03));
  CHECK(speed->speed(job(1), gpus({2}), {}).relative == doctest::Approx(0.8).epsilon(0.05));
  CHECK(speed->speed(job(1), gpus({0}), {}).relative > 0.97);
  CHECK(speed->speed(job(2), gpus({0, 1}), {}).relative < 0.6);
  CHECK(speed->pace(job(1), gpus({1}), {}, {1, 0, 0, 0, false}) ==
        doctest::Approx(speed->speed(job(1), gpus({1}), {}).relative));
  const auto again = make_learned_speed(topology, weights.value()).value();
  REQUIRE(again->restore(speed->state()).ok());
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    CHECK(again->speed(job(1), gpus({gpu}), {}).relative ==
          speed->speed(job(1), gpus({gpu}), {}).relative);
  }
  const std::vector<std::byte> state = speed->state();
  for (std::size_t size = 1; size < state.size(); size += 7)
    CHECK_FALSE(again->restore(std::span(state).first(size)).ok());
  CHECK(again->state() == state);
}

TEST_CASE("where GPUs are alike nothing is learned of them but that") {
  const Topology topology = with_speeds("");
  const auto physics = make_full_physics(topology);
  const auto speed = make_learned_speed(topology, shipped_interference().value()).value();
  for (int i = 0; i < 50; ++i)
    speed->observe(job(2), gpus({0, 1}), {}, physics->rate(job(2), gpus({0, 1}), {}));
  CHECK(speed->speed(job(2), gpus({0, 1}), {}).relative == physics->rate(job(2), gpus({0, 1}), {}));
  CHECK(speed->version() == 0);
}

}  // namespace
}  // namespace starling
