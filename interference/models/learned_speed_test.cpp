// SPDX-License-Identifier: Apache-2.0
// The weights that the program carries: what they promise, how they fail, and that they learn on.
#include "interference/models/learned_speed.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "interference/learned/interference_net.h"
#include "interference/models.h"
#include "topology/generate/generate.h"

using namespace starling;

namespace {

Topology cluster(const std::string& gpu, std::uint32_t servers = 4) {
  GeneratorOptions options;
  options.servers = servers;
  options.gpu_type = gpu;
  options.cpus = 96;
  return generate_flat(options).value();
}

Placement gpus(std::initializer_list<std::uint32_t> ids) {
  Placement out;
  for (const std::uint32_t id : ids) out.emplace_back(id);
  return out;
}

Weights shipped() {
  const auto weights = shipped_interference();
  REQUIRE_MESSAGE(weights.ok(), (weights.ok() ? std::string() : weights.error().message));
  return weights.value();
}

JobProfile random_job(Rng& rng) {
  const auto types = gavel_models();
  const auto others = catalogue();
  JobProfile job;
  job.model = rng.chance(0.6)
                  ? std::string(types[rng.below(static_cast<std::uint32_t>(types.size()))].name)
                  : std::string(others[rng.below(static_cast<std::uint32_t>(others.size()))].name);
  return job;
}

}  // namespace

TEST_CASE("alone it is exactly 1; order does not matter; one more never helps") {
  const Topology topology = cluster("V100");
  const auto speed = make_learned_speed(topology, shipped()).value();
  Rng rng(4);
  for (int i = 0; i < 200; ++i) {
    const JobProfile job = random_job(rng);
    CHECK(speed->speed(job, gpus({3}), {}).relative == 1);
    Neighbours beside;
    double last = 1;
    for (int n = 0; n < 3; ++n) {
      beside.push_back({random_job(rng), gpus({rng.chance(0.7) ? 3U : 4U})});
      const Speed now = speed->speed(job, gpus({3}), beside);
      CHECK(now.relative <= last);
      CHECK(now.relative > 0);
      CHECK(now.uncertainty > 0);
      last = now.relative;
    }
    Neighbours turned(beside.rbegin(), beside.rend());
    CHECK(speed->speed(job, gpus({3}), turned).relative == last);
  }
  CHECK(speed->health().fallbacks == 0);
}

TEST_CASE("GPU types differ, and a job that was never seen has a wider interval") {
  const Neighbours other = {{{"Transformer (batch size 64)", 1, 0}, gpus({0})}};
  const JobProfile job{"ResNet-50 (batch size 64)", 1, 0};
  std::vector<double> speeds;
  for (const char* gpu : {"K80", "P100", "V100"}) {
    const Topology topology = cluster(gpu);
    const auto speed = make_learned_speed(topology, shipped()).value();
    speeds.push_back(speed->speed(job, gpus({0}), other).relative);
    const Speed unseen = speed->speed({"vgg16", 1, 0}, gpus({0}), other);
    const Speed seen = speed->speed(job, gpus({0}), other);
    CHECK(unseen.uncertainty / unseen.relative > seen.uncertainty / seen.relative);
    CHECK(unseen.relative < 1);
  }
  CHECK(std::abs(speeds[0] - speeds[2]) > 0.01);
  const Topology newer = cluster("A100");
  const auto speed = make_learned_speed(newer, shipped()).value();
  CHECK(speed->speed(job, gpus({0}), other).relative < 1);
  CHECK(speed->health().fallbacks == 0);
}

TEST_CASE("what it cannot answer the analytic model does, and it is counted and named") {
  const Topology unknown = cluster("A10");
  const auto speed = make_learned_speed(unknown, shipped()).value();
  const auto analytic = make_analytic_speed(unknown);
  const JobProfile job{"ResNet-50 (batch size 64)", 1, 0};
  const Neighbours other = {{job, gpus({0})}};
  CHECK(speed->speed(job, gpus({0}), other).relative ==
        analytic->speed(job, gpus({0}), other).relative);
  CHECK(speed->health().fallbacks == 1);
  CHECK(speed->health().trouble.find("gpu") == 0);

  const Topology topology = cluster("V100");
  const auto known = make_learned_speed(topology, shipped()).value();
  JobProfile absurd = job;
  for (const double cpus : {-1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    absurd.cpus_per_gpu = cpus;
    const Neighbours beside = {{absurd, gpus({0})}};
    CHECK(std::isfinite(known->speed(job, gpus({0}), beside).relative));
    CHECK(known->health().trouble.find("cpus_per_gpu") == 0);
  }
  CHECK(known->health().fallbacks == 3);
  for (const double measured : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), 1e9})
    known->observe(job, gpus({0}), other, measured);
  CHECK(known->health().refused == 4);
  CHECK(known->health().observed == 0);

  const auto stand_in = make_fallback_speed(topology, "weights.bin: ends within the header");
  CHECK(stand_in->speed(job, gpus({0}), {}).relative == 1);
  CHECK(stand_in->health().fallbacks == 1);
  CHECK(stand_in->health().trouble.find("weights.bin") == 0);
}

TEST_CASE("foreign, truncated and damaged weights are refused by name") {
  const Topology topology = cluster("V100");
  Weights weights = shipped();
  std::string part;
  SUBCASE("foreign") { weights.notes.erase("interference"), part = "no interference model"; }
  SUBCASE("of another version") { weights.notes["interference"] = "99", part = "99"; }
  SUBCASE("a tensor is gone") { weights.tensors.erase("gpu.out"), part = "gpu.out"; }
  SUBCASE("no intervals") { weights.tensors.erase("gpu.interval"), part = "gpu.interval"; }
  SUBCASE("nothing of GPUs") { weights.notes.erase("gpu.types"), part = "gpu.types"; }
  const auto made = make_learned_speed(topology, weights);
  REQUIRE(!made.ok());
  CHECK(made.error().message.find(part) != std::string::npos);

  auto bytes = weights_bytes(shipped()).value();
  CHECK(bytes.size() < 2'000'000);
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{40}, bytes.size() - 1})
    CHECK(!parse_weights(std::span(bytes).first(size)).ok());
  // A NaN in the last tensor, under a hash that fits it.
  Weights with_nan = shipped();
  with_nan.tensors["gpu.out"].values[0] = std::numeric_limits<float>::quiet_NaN();
  CHECK(!weights_bytes(with_nan).ok());
}

TEST_CASE("the world's hidden factors are learned from noisy speeds, also across a restart") {
  const Topology topology = cluster("V100", 8);
  const auto physics = make_full_physics(topology);
  const auto speed = make_learned_speed(topology, shipped()).value();
  Rng rng(11);
  const char* models[] = {"ResNet-50 (batch size 64)",
                          "LM (batch size 20)",
                          "resnet18",
                          "Transformer (batch size 64)",
                          "vgg16",
                          "bert-base"};
  const auto question = [&] {
    // Three jobs on one server, two of them on one GPU.
    std::vector<Neighbour> jobs;
    for (const std::uint32_t gpu : {0U, 0U, 1U})
      jobs.push_back({{models[rng.below(6)], 1, 0}, gpus({gpu})});
    return jobs;
  };
  const auto error = [&](int questions, bool teach) {
    double sum = 0;
    for (int i = 0; i < questions; ++i) {
      const auto jobs = question();
      const Neighbours beside = {jobs[1], jobs[2]};
      const double truth = physics->rate(jobs[0].job, jobs[0].placement, beside);
      sum += std::abs(speed->speed(jobs[0].job, jobs[0].placement, beside).relative - truth);
      if (teach)
        speed->observe(jobs[0].job, jobs[0].placement, beside,
                       truth * std::exp(0.05 * rng.normal()));
    }
    return sum / questions;
  };
  const double before = error(300, false);
  error(2000, true);
  const double after = error(300, false);
  MESSAGE("mean error " << before << " before, " << after << " after 2000 noisy speeds");
  CHECK(after < 0.6 * before);
  CHECK(speed->health().observed == 2000);

  const auto restarted = make_learned_speed(topology, shipped()).value();
  REQUIRE(restarted->restore(speed->state()).ok());
  const auto jobs = question();
  const Neighbours beside = {jobs[1], jobs[2]};
  CHECK(restarted->speed(jobs[0].job, jobs[0].placement, beside).relative ==
        speed->speed(jobs[0].job, jobs[0].placement, beside).relative);
  // What was never met is less sure than what was: where a policy that explores would look.
  const Speed met = speed->speed(jobs[0].job, jobs[0].placement, beside);
  const Speed not_met =
      speed->speed({"CycleGAN", 1, 0}, gpus({0}), {{{"A3C", 1, 0}, gpus({0})}, jobs[2]});
  CHECK(met.uncertainty / met.relative < not_met.uncertainty / not_met.relative);
}

TEST_CASE("a world that changes is told as drift") {
  const Topology topology = cluster("V100");
  const auto speed = make_learned_speed(topology, shipped()).value();
  const JobProfile job{"ResNet-50 (batch size 64)", 1, 0};
  const Neighbours beside = {{{"LM (batch size 20)", 1, 0}, gpus({0})}};
  const double expected = speed->speed(job, gpus({0}), beside).relative;
  Rng rng(5);
  const auto run = [&](double factor) {
    for (int i = 0; i < 60; ++i)
      speed->observe(job, gpus({0}), beside, factor * expected * std::exp(0.04 * rng.normal()));
  };
  run(1);
  CHECK(speed->health().drifts == 0);
  run(0.6);
  CHECK(speed->health().drifts >= 1);
  CHECK(speed->health().trouble.find("drift") == 0);
  CHECK(speed->speed(job, gpus({0}), beside).relative ==
        doctest::Approx(0.6 * expected).epsilon(0.1));
}

TEST_CASE("a memo of answers asks again when an adaptive model has learned all anew") {
  const Topology topology = cluster("H100");
  const ShiftPrior prior = shipped_shift_prior().value();
  const auto speed = make_learned_speed(topology, shipped(), &prior).value();
  const JobProfile job{"ResNet-50 (batch size 64)", 1, 0}, unseen{"A3C", 1, 0};
  const Neighbours beside = {{{"LM (batch size 20)", 1, 0}, gpus({0})}};
  const auto unsure = [&] { return speed->speed(unseen, gpus({0}), beside).uncertainty; };
  // As it believes, so that the answer to this very question is no news; at the fourth it asks
  // which width fits, and the narrowest does.
  const auto observe = [&] {
    speed->observe(job, gpus({0}), beside, speed->speed(job, gpus({0}), beside).relative);
  };
  for (int i = 0; i < 3; ++i) observe();
  const std::uint64_t version = speed->version();
  const double before = unsure();
  observe();
  CHECK(speed->health().observed == 4);
  CHECK(speed->health().drifts == 0);
  CHECK(unsure() < 0.8 * before);
  CHECK(speed->version() == version + 1);
}
