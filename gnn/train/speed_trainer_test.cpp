#include "gnn/train/speed_trainer.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/rng.h"
#include "gnn/learned_speed.h"
#include "gnn/train/reference_net.h"
#include "interference/models.h"
#include "nets/mlp.h"
#include "topology/generate.h"

namespace starling {
namespace {

TEST_CASE("nets and libtorch give the same answers") {
  Rng rng(11);
  for (const char* activation : {"relu", "tanh"}) {
    Weights w;
    w.notes["a.activation"] = activation;
    const std::uint32_t widths[] = {19, 64, 48, 32, 5};
    const auto add = [&](const std::string& name, std::vector<std::uint32_t> shape) {
      Tensor t{std::move(shape), {}};
      const std::size_t count = Tensor::element_count(t.shape).value();
      for (std::size_t i = 0; i < count; ++i)
        t.values.push_back(static_cast<float>(rng.normal() * 0.2));
      w.tensors["a." + name] = std::move(t);
    };
    for (std::size_t i = 0; i < 4; ++i) {
      add(std::to_string(i) + ".weight", {widths[i + 1], widths[i]});
      add(std::to_string(i) + ".bias", {widths[i + 1]});
    }
    add("input.mean", {19});
    add("input.scale", {19});
    Mlp mlp = Mlp::make(w, "a.").value();
    for (const std::size_t rows : {1U, 3U, 200U}) {
      std::vector<float> in(rows * 19), out(rows * 5);
      for (float& x : in) x = static_cast<float>(rng.normal() * 3);
      mlp.run(in, rows, out);
      const std::vector<float> reference = reference_forward(w, in, rows, "a.");
      REQUIRE(reference.size() == out.size());
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(std::abs(out[i] - reference[i]) < 1e-5F);
    }
  }
}

TEST_CASE("training learns, twice the same, and gives a speed model") {
  SpeedTrainingOptions options;
  options.samples = 4000;
  options.epochs = 15;
  const SpeedTraining first = train_speed(options).value();
  MESSAGE("mean error " << first.train_mae << " in training, " << first.validation_mae
                        << " held out, " << first.baseline_mae << " for the mean");
  CHECK(first.train_rows == 3200);
  CHECK(first.validation_rows == 800);
  CHECK(first.validation_mae < 0.5 * first.baseline_mae);
  CHECK(train_speed(options).value().weights.hash() == first.weights.hash());
  options.seed = 2;
  CHECK(train_speed(options).value().weights.hash() != first.weights.hash());

  const Topology topology = generate_leaf_spine({.servers = 8}).value();
  const auto learned = make_learned_speed(topology, first.weights).value();
  const auto analytic = make_analytic_speed(topology);
  const JobProfile job{"resnet50", 8, 0};
  Placement one_server, scattered;
  for (std::uint32_t i = 0; i < 8; ++i) {
    one_server.push_back(GpuId{i});
    scattered.push_back(GpuId{8 * i});
  }
  for (const Placement& placement : {one_server, scattered}) {
    const Speed speed = learned->speed(job, placement, {});
    CHECK(std::abs(speed.relative - analytic->speed(job, placement, {}).relative) < 0.3);
    CHECK(speed.relative > 0);
    CHECK(speed.relative <= 1);
    CHECK(speed.uncertainty > 0);
  }
}

TEST_CASE("weights of something else are no speed model, and options have ranges") {
  const Topology topology = generate_leaf_spine({.servers = 2}).value();
  Weights w;
  CHECK(make_learned_speed(topology, w).error().message.find("no speed model") !=
        std::string::npos);
  w.notes["speed_features"] = "0";
  CHECK(make_learned_speed(topology, w).error().message.find("train it again") !=
        std::string::npos);
  w.notes["speed_features"] = "1";
  CHECK(make_learned_speed(topology, w).error().code == Errc::not_found);
  SpeedTrainingOptions few;
  few.samples = 10;
  CHECK(train_speed(few).error().code == Errc::invalid);
  SpeedTrainingOptions wild;
  wild.learning_rate = 2;
  CHECK(train_speed(wild).error().code == Errc::invalid);
}

}  // namespace
}  // namespace starling
