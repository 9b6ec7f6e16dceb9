// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/goodput_fit.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/test_data.h"
#include "interference/goodput/profiles.h"

using namespace starling;

namespace {

std::vector<StepSample> measured(const StepTime& truth) {
  std::vector<StepSample> samples;
  for (const double batch : {8.0, 32.0, 128.0}) {
    for (const std::uint32_t servers : {1U, 2U, 4U, 8U}) {
      for (const std::uint32_t on_one : {1U, 2U, 4U}) {
        const Tier tier = servers > 1 ? Tier::rack : Tier::server;
        const StepShape shape{batch, 0, servers * on_one, servers, tier};
        samples.push_back({shape, truth.step_s(shape)});
      }
    }
  }
  return samples;
}

}  // namespace

TEST_CASE("steps made from known constants are fitted to a fiftieth, by either form") {
  StepTime truth;
  truth.compute_s = 0.05;
  truth.sample_s = 0.002;
  truth.server = {0.04, 0.01};
  truth.rack = {0.2, 0.008};
  truth.gamma = 2.5;
  CHECK(mean_relative_error(fit_step_time(measured(truth), false), measured(truth)) < 0.02);
  truth.crowd_s = 0.03;
  truth.bend = 0.6;
  const StepTime fitted = fit_step_time(measured(truth), true);
  CHECK(mean_relative_error(fitted, measured(truth)) < 0.02);
  CHECK(mean_relative_error(fit_step_time(measured(truth), false), measured(truth)) >
        mean_relative_error(fitted, measured(truth)));
}

TEST_CASE("noise made from known constants is fitted, and no noise at all is bounded") {
  NoiseRuns runs;
  for (const double batch : {100.0, 200.0, 400.0}) {
    for (int epoch = 1; epoch <= 50; ++epoch) {
      const double phi = (epoch <= 25 ? 500 : 5000) * std::sqrt(batch / 100);
      runs[batch].push_back({epoch / 50.0, phi / 100, 1});
    }
  }
  const NoiseScale noise = fit_noise(runs);
  CHECK(noise.own_batch == 100);
  CHECK(noise.phi(0.1, 100) == doctest::Approx(500));
  CHECK(noise.phi(0.9, 400) == doctest::Approx(10000));
  CHECK(noise.slope.front() == doctest::Approx(0.5));
  CHECK(mean_efficiency_error(noise, runs) < 1e-9);

  for (auto& [batch, epochs] : runs) epochs.front().square = 0;
  CHECK(fit_noise(runs).phi(0, 100) == doctest::Approx(400000));
}

TEST_CASE("a part of the training shorter than an epoch has that epoch's noise") {
  const NoiseRuns runs = {{10, {{0.5, 3, 1}, {1, 9, 1}}}};
  const NoiseScale noise = fit_noise(runs);
  CHECK(noise.phi(0, 10) == doctest::Approx(30));
  CHECK(noise.phi(0.99, 10) == doctest::Approx(90));
}

TEST_CASE("Pollux' steps, also withheld ones, and its efficiencies are met to what was promised" *
          doctest::test_suite("published data")) {
  const auto file = test_data("pollux/placements.csv");
  if (!file) return;
  const Result<GoodputReport> report = fit_goodput(file->parent_path().parent_path());
  REQUIRE_MESSAGE(report.ok(), report.error().message);
  MESSAGE(to_text(report.value()));
  StepErrors all;
  RowError efficiency;
  for (const FittedGoodput& f : report.value().applications) {
    all.add(f.errors);
    efficiency.add(f.efficiency);
    // The committed table is what the fitter finds.
    const GoodputProfile* profile = goodput_profile(model_profile(f.application));
    CAPTURE(f.application);
    REQUIRE(profile != nullptr);
    CHECK(profile->step_error == doctest::Approx(f.errors.placements.error).epsilon(0.05));
    CHECK(profile->limits.largest == f.limits.largest);
    for (const double batch : {f.limits.least_local, f.limits.most_local}) {
      for (const StepShape& shape :
           {StepShape{batch, 0, 1, 1, Tier::server}, StepShape{batch, 0, 4, 1, Tier::server},
            StepShape{batch, 0, 16, 4, Tier::rack}})
        CHECK(profile->time.step_s(shape) == doctest::Approx(f.time.step_s(shape)).epsilon(0.05));
    }
    for (const double done : {0.0, 0.3, 0.95})
      CHECK(profile->noise.phi(done, f.limits.largest) ==
            doctest::Approx(f.noise.phi(done, f.limits.largest)).epsilon(0.01));
  }
  CHECK(report.value().applications.size() == goodput_profiles().size());
  CHECK(all.placements.error <= 0.10);
  CHECK(all.own.error <= 0.07);
  CHECK(all.scale.error <= 0.10);
  CHECK(all.withheld.error <= 0.10);
  CHECK(all.paper.error <= 0.10);
  CHECK(efficiency.error <= 0.03);
  RowError scaling;
  for (const FittedScaling& f : report.value().scaling) scaling.add(f.all);
  CHECK(scaling.error <= 0.05);
}

TEST_CASE("a folder without the data is an error that names the file, for goodput too") {
  const Result<GoodputReport> report = fit_goodput("no/such/folder");
  CHECK(report.error().code == Errc::io);
  CHECK(report.error().message.find("placements.csv") != std::string::npos);
}
