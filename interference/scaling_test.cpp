// SPDX-License-Identifier: Apache-2.0
#include "interference/scaling_test.h"

#include <doctest/doctest.h>

#include "interference/iteration.h"
#include "interference/models.h"

using namespace starling;

TEST_CASE("scaling is 1 at the size asked for, and the world and the analytic model agree on it") {
  const Topology topology = slow_cluster();
  const auto speed = make_analytic_speed(topology);
  const auto world = make_full_physics(topology);
  for (const char* model : {"resnet50", "resnet50 (parameter servers)", "vgg16"}) {
    CAPTURE(model);
    CHECK(speed->scaling(sized(model, 4, 4)) == 1);
    for (const std::uint32_t gpus : {1U, 2U, 8U, 16U})
      CHECK(speed->scaling(sized(model, 4, gpus)) == world->scaling(sized(model, 4, gpus)));
  }
  // Where every placement is as good as any other, exchanges cost nothing.
  CHECK(make_flat_speed()->scaling(sized("vgg16", 2, 8)) == 4);
  CHECK(make_trace_physics()->scaling(sized("vgg16", 2, 1)) == 0.5);
}

TEST_CASE("all-reduce: every worker has a batch of its own, so speed is size over iteration time") {
  const Topology topology = slow_cluster();
  const IterationForm form(topology, 0);
  const JobProfile job = sized("resnet50", 2, 8);
  const double one = 2 / form.best_s(sized("resnet50", 2, 2), 2);
  CHECK(form.scaling(job) == doctest::Approx(8 / form.best_s(job, 8) / one));
  CHECK(form.scaling(job) < 4);
}

TEST_CASE("parameter servers: one batch among all workers, so speed levels off") {
  const Topology topology = slow_cluster();
  const IterationForm form(topology, 0);
  CHECK(sized("resnet50 (parameter servers)", 1, 4).parameter_servers == 4);
  CHECK(sized("resnet50", 1, 4).parameter_servers == 0);
  // On one GPU there is nothing to divide: the model's own time and its exchange within the server.
  const JobProfile one = sized("resnext110 (parameter servers)", 1, 1);
  const JobProfile two = sized("resnext110 (parameter servers)", 1, 2);
  const double grad = model_profile("resnext110").iteration_s;
  const double sync = form.best_s(one, 1) - grad;
  CHECK(sync > 0);
  CHECK(form.best_s(two, 2) == doctest::Approx(grad / 2 + sync));
  CHECK(form.scaling(two) == doctest::Approx((grad + sync) / (grad / 2 + sync)));
  // Over the network 1 Gbit/s outweighs what a smaller part of the batch saves.
  CHECK(form.scaling(sized("vgg16 (parameter servers)", 1, 4)) <
        form.scaling(sized("vgg16 (parameter servers)", 1, 2)));
}

TEST_CASE("goodput: another size than asked for is worth what its batch is, to the world alone") {
  const Topology topology = slow_cluster();
  const auto plain = make_full_physics(topology);
  FullPhysicsOptions options;
  options.goodput = true;
  const auto world = make_full_physics(topology, options);
  const auto factor = [&](const char* model, std::uint32_t asked, std::uint32_t gpus) {
    const JobProfile job = sized(model, asked, gpus);
    return world->scaling(job) / plain->scaling(job);
  };
  CHECK(factor("yolov3", 4, 4) == 1);
  CHECK(factor("yolov3", 4, 8) < 0.95);
  CHECK(factor("yolov3", 4, 8) > 0.5);
  CHECK(factor("yolov3", 4, 2) > 1);
  CHECK(factor("yolov3", 4, 8) < factor("neumf", 4, 8));
  CHECK(factor("vgg16", 4, 8) == 1);
  CHECK(factor("resnet50 (parameter servers)", 4, 8) == 1);
  CHECK(make_analytic_speed(topology)->scaling(sized("yolov3", 4, 8)) ==
        plain->scaling(sized("yolov3", 4, 8)));
}
