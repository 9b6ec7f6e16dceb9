// SPDX-License-Identifier: Apache-2.0
// What libtorch trains is what nets/ runs: equal to 1e-5; and training learns, twice the same.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "base/rng.h"
#include "interference/learned/pair_model.h"
#include "interference/train/cross_validate.h"
#include "interference/train/pair_reference.h"
#include "interference/train/pair_trainer.h"
#include "interference/train/train_interference.h"

using namespace starling;

namespace {

// Six types of three models whose slowdowns are a product of two hidden figures.
PairData invented(std::uint64_t seed) {
  PairData data;
  Rng rng(seed);
  for (const char* set : {"a/k80", "b/k80"}) data.set_of(set);
  std::vector<double> hurts, hurt;
  for (int t = 0; t < 12; ++t) {
    const auto id = data.type_of("type " + std::to_string(t));
    data.types[id].model = "model " + std::to_string(t / 4);
    data.types[id].config = {static_cast<float>(t % 4)};
    hurt.push_back(0.2 + 0.1 * (t % 4) + 0.3 * (t / 4));
    hurts.push_back(0.2 + 0.2 * (t % 4));
    data.types[id].profile = {static_cast<float>(hurt.back()), static_cast<float>(hurts.back())};
  }
  for (std::uint32_t s = 0; s < 2; ++s) {
    for (std::uint32_t a = 0; a < 12; ++a) {
      for (std::uint32_t b = 0; b < 12; ++b) {
        const double slow = hurt[a] * hurts[b] * (s == 0 ? 1 : 1.5) + 0.01 * rng.normal();
        data.rows.push_back(
            {s, a, b, static_cast<float>(std::exp(-std::max(slow, 0.0))), false, data.pairs++});
      }
    }
  }
  return data;
}

PairTrainOptions quick() {
  PairTrainOptions options;
  options.members = 3;
  options.epochs = 300;
  return options;
}

}  // namespace

TEST_CASE("nets and libtorch say the same of random jobs, known or not") {
  Weights weights;
  const PairData data = invented(1);
  PairTrainOptions options = quick();
  options.epochs = 30;
  train_pairs(data, {}, options, "x.", weights);
  Rng rng(3);
  for (auto& [name, tensor] : weights.tensors) {
    if (name.find("table") != std::string::npos || name.find("scale") != std::string::npos)
      continue;
    for (float& value : tensor.values) value = static_cast<float>(0.5 * rng.normal());
  }
  const PairNet net = PairNet::make(weights, "x.").value();
  std::vector<float> v(net.row_width()), o(net.row_width()), slow(net.members());
  for (int i = 0; i < 200; ++i) {
    const auto side = [&](std::vector<float>& config, std::vector<float>& profile) {
      PairSide out;
      config = {static_cast<float>(2 * rng.normal())};
      profile = {static_cast<float>(2 * rng.normal()), static_cast<float>(2 * rng.normal())};
      out.config = config;
      out.profile = profile;
      if (rng.chance(0.7)) out.model = static_cast<std::int32_t>(rng.below(3));
      if (out.model >= 0 && rng.chance(0.7)) out.type = static_cast<std::int32_t>(rng.below(12));
      return out;
    };
    std::vector<float> vc, vp, oc, op;
    const PairSide victim = side(vc, vp), other = side(oc, op);
    const std::size_t set = rng.below(2);
    net.victim(victim, set, v);
    net.aggressor(other, set, o);
    net.log_slowdown(v, o, slow);
    const auto reference =
        reference_log_slowdown(weights, "x.", victim, other, static_cast<std::int64_t>(set));
    REQUIRE(reference.size() == slow.size());
    for (std::size_t k = 0; k < slow.size(); ++k) {
      CHECK(std::abs(slow[k] - reference[k]) < 1e-5F * std::max(1.0F, reference[k]));
      CHECK(slow[k] >= 0);
    }
  }
}

TEST_CASE("training finds the structure, also for types it has not seen, and repeats itself") {
  const PairData data = invented(2);
  PairTrainOptions options = quick();
  options.epochs = 600;
  const auto error = [&](FoldKind kind) {
    const HeldOut held = cross_validate(data, kind, 5, options, {});
    double ours = 0, mean = 0;
    for (std::size_t i = 0; i < data.rows.size(); ++i) {
      const auto speed = static_cast<double>(data.rows[i].speed);
      ours += std::abs(held.guesses[i].mean - speed);
      mean += std::abs(held.mean[i] - speed);
    }
    MESSAGE("error " << ours / static_cast<double>(data.rows.size()) << ", of the mean "
                     << mean / static_cast<double>(data.rows.size()));
    return ours / mean;
  };
  CHECK(error(FoldKind::pairs) < 0.25);
  CHECK(error(FoldKind::types) < 0.6);

  options.epochs = 20;
  Weights once, twice, other;
  train_pairs(data, {}, options, "", once);
  train_pairs(data, {}, options, "", twice);
  options.seed = 9;
  train_pairs(data, {}, options, "", other);
  CHECK(once.hash() == twice.hash());
  CHECK(once.hash() != other.hash());
}

TEST_CASE("the pairs of a profile train, and say how often they tell a share's worth wrongly") {
  InterferenceTrainOptions options;
  options.set = "profile";
  const char* source = std::getenv("STARLING_SOURCE");
  options.data =
      std::filesystem::path(source != nullptr ? source : ".") / "examples/profiles/cpu-2core.csv";
  options.folds = options.members = 2;
  const InterferenceTraining trained = train_interference(options).value();
  REQUIRE(trained.errors.size() == 4);
  for (const HeldOutError& e : trained.errors) CHECK(e.rows == 100);
  CHECK(trained.errors[0].mae < 0.5 * trained.errors[0].mean);  // two on a core halve each other
  REQUIRE(trained.worth.size() >= 2);
  CHECK(trained.worth[0].pairs == 110);
  CHECK(trained.worth[0].wrong <= trained.worth[0].mean_wrong);
}

TEST_CASE("options out of range and absent data are refused by name") {
  InterferenceTrainOptions options;
  options.data = "no-such-folder";
  CHECK(train_interference(options).error().message.find("no-such-folder") != std::string::npos);
  options.set = "all";
  CHECK(train_interference(options).error().message.find("--set") != std::string::npos);
  options.set = "open";
  options.folds = 1;
  CHECK(train_interference(options).error().message.find("--folds") != std::string::npos);
  options.folds = 5;
  options.members = 1;
  CHECK(train_interference(options).error().message.find("--members") != std::string::npos);
}
