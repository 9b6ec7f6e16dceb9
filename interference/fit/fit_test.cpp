// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/fit.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/test_data.h"
#include "interference/fit/nelder_mead.h"
#include "interference/fitted.h"
#include "interference/sharing.h"
#include "workload/catalogue.h"

using namespace starling;

TEST_CASE("the simplex finds the bottom of Rosenbrock's valley, and the same one each time") {
  const auto valley = [](const std::vector<double>& x) {
    return std::pow(1 - x[0], 2) + 100 * std::pow(x[1] - x[0] * x[0], 2);
  };
  const Minimum a = minimize(valley, {-1.2, 1}, 0.5, 2000, 3);
  CHECK(a.at[0] == doctest::Approx(1).epsilon(1e-3));
  CHECK(a.at[1] == doctest::Approx(1).epsilon(1e-3));
  CHECK(minimize(valley, {-1.2, 1}, 0.5, 2000, 3).at == a.at);
}

TEST_CASE("times made from known constants are fitted to a hundredth") {
  const TierConstants truth{0.05, 0.002, 0.02, 0.001, 0.15, 0.004, 2.5};
  std::vector<TierSample> samples;
  for (const double batch : {8.0, 16.0, 64.0}) {
    for (const std::uint32_t gpus : {1U, 2U, 4U, 8U, 16U}) {
      for (const bool across : {false, true}) {
        if (gpus == 1 && across) continue;
        samples.push_back({batch, 1, gpus, across, truth.iteration_s(batch, 1, gpus, across)});
      }
    }
  }
  CHECK(mean_relative_error(truth, samples) < 1e-12);
  const TierConstants fitted = fit_tiers(samples);
  CHECK(mean_relative_error(fitted, samples) < 0.01);
  CHECK(fitted.network_transfer_s >= fitted.server_transfer_s);
}

TEST_CASE("a farther tier is never faster, even where the samples say so") {
  const std::vector<TierSample> samples = {
      {8, 1, 1, false, 1}, {8, 1, 4, false, 2}, {8, 1, 4, true, 1.5}, {8, 1, 8, true, 1.4}};
  const TierConstants fitted = fit_tiers(samples);
  for (const std::uint32_t gpus : {2U, 4U, 8U}) {
    CHECK(fitted.iteration_s(8, 1, gpus, true) >= fitted.iteration_s(8, 1, gpus, false));
    CHECK(fitted.iteration_s(8, 1, gpus, false) >= fitted.iteration_s(8, 1, 1, false));
  }
}

TEST_CASE("Pollux, ElasticFlow and Gavel are met to what was promised" *
          doctest::test_suite("published data")) {
  const auto file = test_data("pollux/placements.csv");
  if (!file) return;
  const Result<FitReport> report = fit_all(file->parent_path().parent_path());
  REQUIRE_MESSAGE(report.ok(), report.error().message);
  MESSAGE(to_text(report.value()));
  CHECK(report.value().sources.size() == 11);  // 3, and of pairs on 4 GPU types seen and withheld
  for (const SourceError& source : report.value().sources) {
    CAPTURE(source.source);
    CHECK(source.error <= source.target);
  }
  for (const FittedModel& model : report.value().models) {
    CAPTURE(model.source);
    CAPTURE(model.gpu);
    CAPTURE(model.application);
    CHECK(model.error <= (model.source == "gavel" ? 0.15 : 0.20));
  }
  // The committed table is what the fitter finds: the same models, errors and exchange times.
  const std::string table = to_constants(report.value());
  std::size_t found = 0;
  for (const FittedSync& fit : fitted_syncs()) {
    CAPTURE(fit.model);
    CHECK(table.find("{\"" + std::string(fit.model) + "\", \"" + std::string(fit.source)) !=
          std::string::npos);
    for (const FittedModel& model : report.value().models) {
      if (model.source + ' ' + model.gpu != fit.source ||
          catalogue()[model_profile(model.application).family].name != fit.model) {
        continue;
      }
      ++found;
      CHECK(model.error == doctest::Approx(fit.error).epsilon(0.05));
      const double near = 1.5 * fit.server_transfer_s + 6 * fit.server_step_s;
      const double far = 1.5 * fit.leave_transfer_s + 6 * fit.leave_step_s + near;
      CHECK(model.constants.sync_s(4, false) == doctest::Approx(near).epsilon(0.1));
      CHECK(model.constants.sync_s(4, true) == doctest::Approx(far).epsilon(0.1));
    }
  }
  CHECK(found == fitted_syncs().size());
  // The committed figures of pairs too.
  for (const SharingModel& own : report.value().sharing) {
    if (own.gpu.empty()) continue;
    for (const SharingModel& other : report.value().sharing) {
      if (other.gpu != own.gpu) continue;
      CHECK(sharing_speed(model_profile(own.application), model_profile(other.application),
                          gpu_kind(own.gpu)) ==
            doctest::Approx(pair_speed(own.figures, other.figures)).epsilon(0.02));
    }
  }
  CHECK(to_json(report.value()).find("\"elasticflow\"") != std::string::npos);
}

TEST_CASE("a folder without the data is an error that names the file") {
  const Result<FitReport> report = fit_all("no/such/folder");
  CHECK(report.error().code == Errc::io);
  CHECK(report.error().message.find("placements.csv") != std::string::npos);
}
