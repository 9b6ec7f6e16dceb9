// The weights that the repository ships are real: they load, and answer much like the model that taught them.
#include "gnn/learned_speed.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/rng.h"
#include "interference/models.h"
#include "topology/generate.h"

namespace starling {
namespace {

TEST_CASE("the shipped speed network stays close to its teacher on a data centre of its own") {
  const char* source = std::getenv("STARLING_SOURCE");
  if (source == nullptr) {
    MESSAGE("STARLING_SOURCE is not set: not tested; ctest sets it");
    return;
  }
  const auto weights =
      load_weights(std::filesystem::path(source) / "nets" / "weights" / "speed.weights");
  REQUIRE_MESSAGE(weights.ok(), (weights.ok() ? std::string() : weights.error().message));
  GeneratorOptions options;
  options.servers = 24;
  options.servers_per_rack = 6;
  const Topology topology = generate_leaf_spine(options).value();
  const auto learned = make_learned_speed(topology, weights.value()).value();
  const auto analytic = make_analytic_speed(topology);

  Rng rng(99);
  double error = 0;
  double mean_error = 0;
  constexpr int kQuestions = 500;
  for (int i = 0; i < kQuestions; ++i) {
    const char* models[] = {"resnet50", "vgg16", "bert-base", "lstm-lm"};
    const JobProfile job{models[rng.below(4)], 1U << rng.below(5)};
    // One server, or a GPU on each of as many servers as it has GPUs.
    const std::uint32_t stride = job.gpus <= 8 && rng.chance(0.5) ? 1 : 8;
    Placement placement;
    for (std::uint32_t g = 0; g < job.gpus; ++g) placement.push_back(GpuId{g * stride});
    const double truth = analytic->speed(job, placement, {}).relative;
    error += std::abs(learned->speed(job, placement, {}).relative - truth);
    mean_error += std::abs(0.75 - truth);
  }
  error /= kQuestions;
  mean_error /= kQuestions;
  MESSAGE("mean error " << error << ", of a constant " << mean_error);
  CHECK(error < 0.1);
  CHECK(error < 0.6 * mean_error);
}

}  // namespace
}  // namespace starling
