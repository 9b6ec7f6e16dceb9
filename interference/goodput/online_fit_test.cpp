// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/online_fit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/rng.h"
#include "interference/goodput/profiles.h"
#include "interference/models.h"
#include "interference/pace/pace.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

// The world's physics is of another form (five tiers, fitted to other measurements, hidden factors
// of machines), so what is believed can only come near to it.

Topology racks() {
  GeneratorOptions options;
  options.servers = 8;
  options.gpus_per_server = 8;
  options.servers_per_rack = 4;
  options.gpu_type = "V100";
  return generate_leaf_spine(options).value();
}

Placement on(std::uint32_t servers, std::uint32_t each, std::uint32_t apart = 1) {
  Placement gpus;
  for (std::uint32_t s = 0; s < servers; ++s) {
    for (std::uint32_t g = 0; g < each; ++g) gpus.push_back(GpuId{8 * s * apart + g});
  }
  return gpus;
}

struct Job {
  const Topology& topology;
  const Physics& physics;
  std::string model;
  double local = 1;  ///< samples of a GPU

  [[nodiscard]] StepShape shape(const Placement& gpus) const {
    StepShape shape;
    shape.local_batch = local;
    shape.replicas = static_cast<std::uint32_t>(gpus.size());
    shape.servers = topology.server_of(gpus.back()).value - topology.server_of(gpus.front()).value;
    shape.servers = shape.servers == 0 ? 1 : shape.servers + 1;
    shape.tier = topology.tier_of(gpus);
    return shape;
  }
  [[nodiscard]] double true_pace(const Placement& gpus) const {
    JobProfile profile;
    profile.model = model;
    profile.gpus = static_cast<std::uint32_t>(gpus.size());
    profile.asked = 1;
    return progress_rate(physics, profile, gpus, {}, {});
  }
};

const char* const kModels[] = {"resnet50", "bert-base",          "vgg16",
                               "resnet18", "LM (batch size 20)", "Transformer (batch size 64)"};

/// What a growing job may come by.
std::vector<Placement> met() {
  return {on(1, 1), on(1, 4), on(2, 8), on(1, 2), on(4, 4), on(8, 4), on(1, 8), on(2, 2)};
}
std::vector<Placement> all() {
  std::vector<Placement> all;
  for (std::uint32_t each : {1U, 2U, 3U, 4U, 6U, 8U}) {
    for (std::uint32_t servers : {1U, 2U, 3U, 4U, 6U, 8U}) all.push_back(on(servers, each));
  }
  return all;
}

struct Errors {
  double mean = 0, worst = 0;
};
Errors after(std::size_t allocations, bool goodput, const char* model, std::uint64_t seed) {
  const Topology topology = racks();
  FullPhysicsOptions options;
  options.goodput = goodput;
  const auto physics = make_full_physics(topology, options);
  const GradientReport said = gradient_report({model, 1, 0, 0, 0, 1}, 1, {}, 0.5);
  const Job job{topology, *physics, model, said.batch > 0 ? said.batch : 1.0};
  OnlineFit fit(job.shape(on(1, 1)));
  if (goodput) fit.set_noise(said.noise);
  Rng rng(seed);
  const auto allocations_met = met();
  for (std::size_t i = 0; i < allocations; ++i) {
    const Placement& gpus = allocations_met[i];
    for (int n = 0; n < 4; ++n)  // with the simulated world's noise of one measurement
      fit.add(job.shape(gpus), 1, job.true_pace(gpus) * std::exp(0.03 * rng.normal()));
  }
  fit.fit();
  Errors errors;
  for (const Placement& gpus : all()) {
    const double wrong = std::abs(fit.pace(job.shape(gpus)) / job.true_pace(gpus) - 1);
    errors.mean += wrong / static_cast<double>(all().size());
    errors.worst = std::max(errors.worst, wrong);
  }
  return errors;
}

TEST_CASE("a job's curve is believed as it is after a few allocations") {
  for (const bool goodput : {false, true}) {
    double mean[9] = {}, worst[9] = {};
    for (std::size_t k = 1; k <= 8; ++k) {
      for (const char* model : kModels) {
        const Errors errors = after(k, goodput, model, 7 + k);
        mean[k] += errors.mean / std::size(kModels);
        worst[k] = std::max(worst[k], errors.mean);
      }
      MESSAGE(std::string(goodput ? "goodput, " : "") << k << " allocations: mean error " << mean[k]
                                                      << ", of the worst model " << worst[k]);
    }
    CHECK(mean[3] < 0.3);
    CHECK(mean[6] < 0.15);
    CHECK(mean[8] < 0.1);
    CHECK(worst[8] < 0.2);
  }
}

TEST_CASE("nothing measured: a larger size is worth trying, and no pace is out of bounds") {
  StepShape one;
  one.local_batch = 32;
  const OnlineFit fit(one);
  StepShape eight = one;
  eight.replicas = 8;
  CHECK(fit.pace(one) == doctest::Approx(1));
  CHECK(fit.pace(eight) > 7);
  CHECK(fit.pace(eight) <= 8);
}

TEST_CASE("a job of a known kind is believed like it before it has been measured") {
  const Topology topology = racks();
  const auto physics = make_full_physics(topology);
  const Job job{topology, *physics, "vgg16", 1};
  OnlineFit first(job.shape(on(1, 1)));
  for (const Placement& gpus : met()) first.add(job.shape(gpus), 1, job.true_pace(gpus));
  first.fit();
  OnlineFit fresh(job.shape(on(1, 1))), like(job.shape(on(1, 1)), first.parameters());
  const auto error = [&](const OnlineFit& fit) {
    double sum = 0;
    for (const Placement& gpus : all())
      sum += std::abs(fit.pace(job.shape(gpus)) / job.true_pace(gpus) - 1);
    return sum / static_cast<double>(all().size());
  };
  MESSAGE("of a new kind " << error(fresh) << ", of a known one " << error(like));
  CHECK(error(like) < 0.5 * error(fresh));
}

TEST_CASE("what cannot be a pace is not taken, and the shapes kept are bounded") {
  StepShape shape;
  OnlineFit fit(shape);
  for (const double wrong : {0.0, -1.0, std::nan(""), HUGE_VAL}) fit.add(shape, 1, wrong);
  CHECK(fit.distinct() == 0);
  CHECK_FALSE(fit.is_due());
  for (std::uint32_t i = 1; i <= 100; ++i) {
    shape.replicas = i;
    fit.add(shape, 1, i);
  }
  CHECK(fit.distinct() == OnlineFit::kMostSamples);
  fit.fit();
  CHECK(std::isfinite(fit.pace(shape)));
}

}  // namespace
}  // namespace starling
