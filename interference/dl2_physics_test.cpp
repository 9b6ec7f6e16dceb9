// SPDX-License-Identifier: Apache-2.0
#include "interference/dl2_physics.h"

#include <doctest/doctest.h>

#include <vector>

#include "topology/generate/generate.h"

namespace starling {
namespace {

constexpr double kClose = 1e-9;

Topology testbed() {
  GeneratorOptions options;
  options.groups = {{13, "V100"}};
  options.gpus_per_server = 2;
  return generate_flat(options).value();
}

JobProfile profile(std::string_view model, std::uint32_t gpus, std::uint32_t asked) {
  JobProfile job;
  job.model = model;
  job.gpus = gpus;
  job.asked = asked;
  job.parameter_servers = gpus;
  job.asked_servers = asked;
  return job;
}

}  // namespace

TEST_CASE("DL2's steps by hand: one host, two hosts, servers apart") {
  const Dl2Model& resnet = *dl2_model("resnet-50");
  // One worker and one server on a host: 2 S over the local link.
  CHECK(dl2_steps_per_s(resnet, std::vector<Dl2Host>{{1, 1}}) ==
        doctest::Approx(1 / (0.449 + 2 * 102.2 / 306.5)).epsilon(kClose));
  // On two: half of it is away, which takes 102.2 / 91.9.
  CHECK(dl2_steps_per_s(resnet, std::vector<Dl2Host>{{1, 1}, {1, 1}}) ==
        doctest::Approx(2 / (0.449 + 102.2 / 91.9)).epsilon(kClose));
  // All servers on a host without workers: each of three workers' 2 S come out of its way.
  CHECK(dl2_steps_per_s(resnet, std::vector<Dl2Host>{{3, 0}, {0, 1}}) ==
        doctest::Approx(3 / (0.449 + 3 * 2 * 102.2 / 91.9)).epsilon(kClose));
}

TEST_CASE("more servers than workers buy nothing between hosts, fewer are what all wait for") {
  const Dl2Model& vgg = *dl2_model("vgg-16");
  const auto steps = [&](double servers) {
    std::vector<Dl2Host> hosts(4, {2, servers});
    return dl2_steps_per_s(vgg, hosts);
  };
  CHECK(steps(4) == doctest::Approx(steps(2)).epsilon(kClose));
  CHECK(steps(1) < 0.7 * steps(2));
}

TEST_CASE("rates are parts of the best place, and sizes scale less than linearly") {
  const Topology topology = testbed();
  const auto physics = make_dl2_physics(topology);
  for (const Dl2Model& model : dl2_models()) {
    CAPTURE(model.name);
    for (const std::uint32_t gpus : {1U, 2U, 4U, 9U}) {
      const JobProfile job = profile(model.name, gpus, 2);
      Placement tight, wide;
      for (std::uint32_t g = 0; g < gpus; ++g) {
        tight.push_back(GpuId{g});
        wide.push_back(GpuId{2 * g});
      }
      const double tightly = physics->rate(job, tight, {}), widely = physics->rate(job, wide, {});
      CHECK(tightly > 0);
      CHECK(tightly <= 1);
      CHECK(widely > 0);
      CHECK(widely <= 1);
      CHECK(std::max(tightly, widely) > 0.9);
      CHECK(physics->scaling(job) <= gpus / 2.0 + kClose);
      CHECK(physics->pace(job, tight, {}, {}) ==
            doctest::Approx(tightly * physics->scaling(job)).epsilon(kClose));
      CHECK(physics->pace(job, tight, {}, {gpus, gpus, 0, 0, false}) ==
            doctest::Approx(tightly * physics->scaling(job)).epsilon(kClose));
    }
    CHECK(physics->scaling(profile(model.name, 2, 2)) == 1);
  }
  CHECK(physics->rate(profile("bert-base", 4, 2), {GpuId{0}, GpuId{9}}, {}) == 1);
  CHECK(physics->scaling(profile("bert-base", 4, 2)) == 2);
}

}  // namespace starling
