// SPDX-License-Identifier: Apache-2.0
#include "interference/pace/pace.h"

#include <doctest/doctest.h>

#include <string>

#include "interference/goodput/profiles.h"
#include "interference/models.h"
#include "interference/scaling_test.h"

using namespace starling;

namespace {

Placement first(std::uint32_t gpus) {
  Placement placement;
  for (std::uint32_t g = 0; g < gpus; ++g) placement.emplace_back(g);
  return placement;
}

Pace ask(const IterationForm& form, const JobProfile& job, Allocation how = {},
         std::uint32_t batch = 0, PaceOptions options = {}, double done = 0) {
  return pace(form, {job, first(job.gpus), {}, how, batch, done}, options);
}

}  // namespace

TEST_CASE("as asked it is exactly the world's rate times its scaling") {
  const Topology topology = slow_cluster();
  const IterationForm form(topology, 0);
  const auto speed = make_analytic_speed(topology);
  const Neighbours beside = {{sized("vgg16", 2, 2), {GpuId(1), GpuId(2)}}};
  for (const char* model : {"resnet50", "resnet50 (parameter servers)", "vgg16", "nobody's"}) {
    CAPTURE(model);
    for (const std::uint32_t asked : {1U, 2U, 4U}) {
      for (const std::uint32_t gpus : {1U, 2U, 3U, 8U, 16U}) {
        const JobProfile job = sized(model, asked, gpus);
        const Placement placement = first(gpus);
        for (const Neighbours& others : {Neighbours{}, beside}) {
          CHECK(pace(form, {job, placement, others}).relative ==
                speed->speed(job, placement, others).relative * speed->scaling(job));
        }
      }
    }
  }
}

TEST_CASE("a larger batch takes as much longer as was fitted, and so gains") {
  const Topology topology = slow_cluster();
  const IterationForm form(topology, 0);
  const StepTime& time = goodput_profile(model_profile("resnet18"))->time;
  const JobProfile one = sized("resnet18", 1, 1);
  const Pace own = ask(form, one, {}, 128);
  const Pace twice = ask(form, one, {0, 0, 256, 0, false}, 128);
  CHECK(own.batch == 128);
  CHECK(own.relative == 1);
  CHECK(twice.batch == 256);
  CHECK(twice.step_s / own.step_s == doctest::Approx(time.grad_s(256) / time.grad_s(128)));
  CHECK(twice.relative == doctest::Approx(2 * own.step_s / twice.step_s));
  CHECK(twice.relative > 1);
  // Of a model that is not fitted, time goes with the batch; of a batch that is not said, nothing.
  CHECK(ask(form, sized("vgg16", 1, 1), {0, 0, 64, 0, false}, 32).relative == doctest::Approx(1));
  CHECK(ask(form, sized("vgg16", 1, 1), {0, 0, 64, 0, false}).relative == 1);
}

TEST_CASE("accumulation: on one GPU for nothing, over a slow network for fewer exchanges") {
  const Topology topology = slow_cluster();
  const IterationForm form(topology, 0);
  const Pace one = ask(form, sized("vgg16", 1, 1), {0, 0, 0, 3, false});
  CHECK(one.relative == doctest::Approx(1));
  CHECK(one.step_s == doctest::Approx(4 * ask(form, sized("vgg16", 1, 1)).step_s));
  double last = ask(form, sized("vgg16", 8, 8)).relative;
  for (const std::uint32_t accumulation : {1U, 3U, 7U}) {
    const double more = ask(form, sized("vgg16", 8, 8), {0, 0, 0, accumulation, false}).relative;
    CHECK(more > last);
    last = more;
  }
}

TEST_CASE("goodput: more workers are worth less early, and the size asked for stays 1") {
  const Topology topology = slow_cluster();
  const IterationForm form(topology, 0);
  const PaceOptions goodput{true, 1};
  const JobProfile job = sized("resnet18", 1, 2);
  const double blind = ask(form, job, {}, 128).relative;
  const double early = ask(form, job, {}, 128, goodput, 0).relative;
  const double late = ask(form, job, {}, 128, goodput, 0.95).relative;
  CHECK(early < late);
  CHECK(late < blind);
  CHECK(late > 0.97 * blind);
  CHECK(early < 1.4);
  // Fewer workers than asked for waste less of each sample.
  CHECK(ask(form, sized("resnet18", 4, 1), {}, 2048, goodput, 0.1).efficiency > 1);
  for (const double done : {0.0, 0.5})
    CHECK(ask(form, sized("resnet18", 2, 2), {}, 256, goodput, done).efficiency == 1);
  CHECK(ask(form, sized("vgg16", 1, 4), {}, 32, goodput, 0).relative ==
        ask(form, sized("vgg16", 1, 4), {}, 32).relative);
}

TEST_CASE("averaged copies: servers by themselves, whatever the network, times an efficiency") {
  const Topology topology = slow_cluster();
  const IterationForm form(topology, 0);
  const JobProfile job = sized("vgg16", 8, 8);
  const Allocation copies{0, 0, 0, 0, true};
  const Pace four = ask(form, job, copies);
  CHECK(four.relative == doctest::Approx(4 * ask(form, sized("vgg16", 8, 2)).relative));
  CHECK(four.relative > ask(form, job).relative);
  CHECK(ask(form, job, copies, 0, {false, 0.8}).relative == doctest::Approx(0.8 * four.relative));
  CHECK(four.batch == 8);
  // One server has one copy.
  CHECK(ask(form, sized("vgg16", 2, 2), copies, 0, {false, 0.8}).relative ==
        ask(form, sized("vgg16", 2, 2)).relative);
}

TEST_CASE(
    "a pace over the whole training lies between its ends, and models without noise have none") {
  const Topology topology = slow_cluster();
  const IterationForm form(topology, 0);
  const JobProfile job = sized("resnet18", 1, 1);
  const Placement one = first(1);
  const PaceQuestion question{job, one, {}, {1, 0, 1024, 0, false}};
  const double blind = training_pace(form, question, false);
  const double counted = training_pace(form, question, true);
  CHECK(blind == pace(form, question).relative);
  const auto at = [&](double done) {
    PaceQuestion then = question;
    then.done = done;
    return pace(form, then, {true, 1}).relative;
  };
  CHECK(at(0) < counted);
  CHECK(counted < at(0.95));
  CHECK(counted < blind);
  const JobProfile unknown = sized("nobody's", 1, 2);
  const Placement two = first(2);
  const PaceQuestion other{unknown, two, {}, {2, 1, 64, 0, false}};
  CHECK(training_pace(form, other, true) == training_pace(form, other, false));
  // What speed models answer is that, and an allocation of workers alone says nothing.
  const auto speed = make_analytic_speed(topology);
  CHECK(speed->pace(job, one, {}, question.allocation) == counted);
  CHECK(speed->pace(job, one, {}, {1, 0, 0, 0, false}) == 1);
}

TEST_CASE("parameter servers are a number of their own: up to the workers each more helps") {
  const Topology topology = slow_cluster();
  const IterationForm form(topology, 0);
  const JobProfile job = sized("vgg16 (parameter servers)", 4, 4);
  CHECK(job.parameter_servers == 4);
  const auto with = [&](std::uint32_t servers) {
    return ask(form, job, {0, servers, 0, 0, false}).relative;
  };
  CHECK(with(1) < with(2));
  CHECK(with(2) < with(4));
  CHECK(with(4) == ask(form, job).relative);
  CHECK(with(8) == doctest::Approx(with(4)));
}

TEST_CASE("a mixed gang goes as its slowest GPUs would, up to the path") {
  GeneratorOptions options;
  options.groups = {{2, "P100"}, {2, "V100"}};
  options.gpus_per_server = 2;
  options.gpus_per_island = 2;
  const Topology topology = generate_flat(options).value();
  const IterationForm form(topology, 0);
  const JobProfile job = sized("resnet50", 4, 4);
  const auto at = [&](std::initializer_list<std::uint32_t> gpus) {
    Placement placement;
    for (const std::uint32_t gpu : gpus) placement.emplace_back(gpu);
    return pace(form, {job, placement, {}}).relative;
  };
  CHECK(at({0, 2, 4, 6}) == doctest::Approx(at({0, 1, 2, 3})).epsilon(0.02));
  CHECK(at({4, 5, 6, 7}) > 1.2 * at({0, 2, 4, 6}));
}
