// SPDX-License-Identifier: Apache-2.0
// That a prior learned over changes of hardware adapts with fewer measurements, on changes that are
// made up, and on those that were published.
#include "interference/pairs/adaptation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/rng.h"
#include "base/test_data.h"
#include "base/test_folder.h"
#include "interference/learned/interference_net.h"
#include "interference/pairs/adaptation_report.h"
#include "interference/pairs/meta_train.h"

using namespace starling;

namespace {

constexpr std::uint32_t kTypes = 14;

/// A change in which everybody's slowdown grows by a factor of its own, and that of each type as a
/// victim by some more, in a way that its utilisation tells.
ShiftTask made_up(std::uint64_t seed, GpuKind kind = GpuKind::v100) {
  Rng rng(seed);
  Rng types(77);  // the same for all
  ShiftTask task{"then", "now", kind, kind == GpuKind::v100, {}, {}};
  for (std::uint32_t i = 0; i < kTypes; ++i) {
    std::array<float, kGpuProfile> profile{};
    for (float& value : profile) value = static_cast<float>(types.normal());
    task.profiles.push_back(profile);
  }
  const double factor = 0.5 + 0.6 * rng.uniform(), tells = 0.15 + 0.1 * rng.normal();
  std::uint32_t pair = 0;
  for (std::uint16_t a = 0; a < kTypes; ++a) {
    for (std::uint16_t b = a; b < kTypes; ++b, ++pair) {
      const auto add = [&](std::uint16_t victim, std::uint16_t other) {
        const double predicted = 0.1 + 0.05 * ((victim * 7 + other * 3) % 11);
        const double off = -factor * predicted -
                           tells * static_cast<double>(task.profiles[victim][4]) - 0.1 +
                           0.02 * rng.normal();
        task.rows.push_back(
            {victim, other, pair, std::exp(std::min(off - predicted, 0.0)), predicted, 0.05});
      };
      add(a, b);
      if (a != b) add(b, a);
    }
  }
  return task;
}

std::vector<ShiftTask> family() {
  std::vector<ShiftTask> out;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) out.push_back(made_up(seed));
  return out;
}

MetaOptions quick() {
  MetaOptions options;
  options.iterations = 600;
  options.shots = 10;
  options.evaluations = 30;
  return options;
}

double to_half(const ShiftTask& task, const ShiftPrior& prior, AdaptationArm arm) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    AdaptationOptions options;
    options.samples = 32;
    options.seed = seed;
    sum += samples_to_half(adaptation_curve(task, prior, arm, options)) / 2.0;
  }
  return sum;
}

}  // namespace

TEST_CASE("meta-training repeats, and expects of new hardware what the changes had in common") {
  const auto tasks = family();
  const ShiftPrior prior = meta_train(tasks, quick());
  const ShiftPrior again = meta_train(tasks, quick());
  CHECK(prior.slope == again.slope);
  CHECK(prior.slope_deviation == again.slope_deviation);
  CHECK(prior.victim == again.victim);
  // The utilisation of the victim slows it: -0.15 on average.
  CHECK(prior.slope[2 + 4] < -0.05);
  CHECK(prior.slope[1] < -0.15);
  // The evidence of a change that was not trained on is better than with deviations by hand.
  const std::vector<ShiftTask> other{made_up(50)};
  ShiftPrior blank;
  blank.profile_mean = prior.profile_mean, blank.profile_scale = prior.profile_scale;
  blank.slope_deviation.fill(0.1);
  CHECK(evidence(prior, other, 30, 1) > evidence(blank, other, 30, 1));

  Weights weights;
  prior.save(weights);
  const auto loaded = ShiftPrior::load(weights);
  REQUIRE(loaded.ok());
  CHECK(loaded.value().slope[2] == doctest::Approx(prior.slope[2]).epsilon(1e-5));
  weights.tensors.erase("shift.slope");
  CHECK(!ShiftPrior::load(weights).ok());
}

TEST_CASE(
    "from the prior half the error goes with fewer measured pairs than from the shipped model") {
  const ShiftPrior prior = meta_train(family(), quick());
  for (const GpuKind kind : {GpuKind::v100, GpuKind::h100}) {
    const ShiftTask task = made_up(99, kind);
    const double shipped = to_half(task, prior, AdaptationArm::shipped_random);
    CHECK(to_half(task, prior, AdaptationArm::meta_random) < 0.6 * shipped);
    CHECK(to_half(task, prior, AdaptationArm::meta_directed) < 0.6 * shipped);
  }
}

TEST_CASE("half the error has to stay half") {
  CHECK(samples_to_half({1, {{1, 0}, {0.4, 0}, {0.6, 0}, {0.4, 0}, {0.5, 0}, {0.3, 0}}}) == 3);
  CHECK(samples_to_half({1, {{1, 0}, {0.4, 0}, {0.4, 0}}}) == 3);
}

TEST_CASE("of very few pairs one judges") {
  ShiftTask task = made_up(3);
  std::erase_if(task.rows, [](const ShiftRow& row) { return row.pair > 1; });
  const ShiftPrior prior = meta_train(family(), quick());
  for (const AdaptationArm arm : kAdaptationArms) {
    const AdaptationCurve curve = adaptation_curve(task, prior, arm, {});
    CHECK(std::isfinite(curve.shipped));
    REQUIRE(curve.points.size() == 2);
    CHECK(std::isfinite(curve.points.back().mae));
  }
}

namespace {

/// A folder with gavel/colocated.csv: so many pairs of each set, made up.
struct Campaigns {
  Campaigns(const std::vector<std::string>& sets, std::size_t pairs) {
    std::filesystem::create_directories(folder.path / "gavel");
    std::ofstream out(file());
    out << "campaign,gpu,model_a,batch_a,model_b,batch_b,steps_per_s_a,steps_per_s_b,iso_a,iso_b,"
           "norm_a,norm_b,flag\n";
    const char* const types[] = {"A3C,0", "CycleGAN,0", "LM,5", "LM,10", "LM,20"};
    for (const std::string& set : sets) {
      std::size_t left = pairs;
      for (std::size_t a = 0; a < std::size(types); ++a) {
        for (std::size_t b = a; b < std::size(types) && left > 0; ++b, --left)
          out << set << "," << types[a] << "," << types[b] << ",1,1,2,2,0.5,0.5,\n";
      }
    }
  }
  [[nodiscard]] std::filesystem::path file() const {
    return folder.path / "gavel" / "colocated.csv";
  }
  [[nodiscard]] std::string refusal() const {
    const auto net = InterferenceNet::make(shipped_interference().value()).value();
    const auto report = report_adaptation(net, folder.path, {}, 1, quick());
    return report.ok() ? "" : report.error().message;
  }
  TestFolder folder{"campaigns"};
};

}  // namespace

TEST_CASE("a file with too little is refused by its name, and what would be right is said") {
  const Campaigns one({"2019_raw,k80"}, 15);
  CHECK(one.refusal().find(one.file().string() + ": fewer than two changes") == 0);
  CHECK(one.refusal().find("it has the sets 2019_raw/k80; give") != std::string::npos);
  const Campaigns two({"2019_raw,k80", "2020,k80"}, 3);
  CHECK(two.refusal().find("fewer than 8 measured pairs of 2019_raw/k80") != std::string::npos);
  const Campaigns some({"2019_raw,k80", "2020,k80"}, 15);
  CHECK(some.refusal().find(some.file().string() + ": the file has no set '2019_raw/p100'") == 0);
}

TEST_CASE("the shipped prior is what it says") {
  const auto prior = shipped_shift_prior();
  REQUIRE_MESSAGE(prior.ok(), (prior.ok() ? std::string() : prior.error().message));
  for (const double deviation :
       {prior.value().victim, prior.value().other, prior.value().pair, prior.value().noise}) {
    CHECK(deviation > 0.01);
    CHECK(deviation < 1);
  }
}

TEST_CASE("after published changes of hardware" * doctest::test_suite("published data")) {
  const auto file = test_data("gavel/colocated.csv");
  if (!file) return;
  const auto net = InterferenceNet::make(shipped_interference().value()).value();
  const PairData gavel = read_pairs(*file).value();
  const ShiftTask task = make_shift_task(net, gavel, "2020/v100", "2019_raw/v100").value();
  MetaOptions options = quick();
  const ShiftPrior prior = meta_train(all_shifts(net, gavel, task.world), options);
  const double shipped = to_half(task, prior, AdaptationArm::shipped_random);
  const double meta = to_half(task, prior, AdaptationArm::meta_directed);
  MESSAGE("pairs until half the error: " << shipped << " shipped, at random; " << meta
                                         << " from the prior, directed");
  CHECK(meta <= 0.6 * shipped);
  CHECK(!make_shift_task(net, gavel, "2021/v100", "2019_raw/v100").ok());
  CHECK(!make_shift_task(net, gavel, "2020/v100", "2026/h100").ok());
}
