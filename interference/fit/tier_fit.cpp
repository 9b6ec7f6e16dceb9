// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/tier_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "interference/fit/nelder_mead.h"
#include "interference/overlap.h"

namespace starling {
namespace {

constexpr double kRatioWeight = 3;

// Unbounded coordinates of the constants: logarithms, and a farther tier as an excess over the
// nearer one.
TierConstants constants_at(const std::vector<double>& x) {
  TierConstants c;
  c.compute_s = std::exp(x[0]);
  c.sample_s = std::exp(x[1]);
  c.server_transfer_s = std::exp(x[2]);
  c.server_step_s = std::exp(x[3]);
  c.network_transfer_s = c.server_transfer_s + std::exp(x[4]);
  c.network_step_s = c.server_step_s + std::exp(x[5]);
  c.gamma = 1 + 9 / (1 + std::exp(-x[6]));
  return c;
}

}  // namespace

double TierConstants::sync_s(std::uint32_t gpus, bool across) const noexcept {
  if (gpus < 2) return 0;
  const double n = gpus;
  return 2 * (n - 1) / n * (across ? network_transfer_s : server_transfer_s) +
         2 * (n - 1) * (across ? network_step_s : server_step_s);
}

double TierConstants::iteration_s(double batch, std::uint32_t micro, std::uint32_t gpus,
                                  bool across) const noexcept {
  const double grad = grad_s(batch);
  const double sync = sync_s(gpus, across);
  return (micro - 1) * grad + overlapped(grad, sync, gamma);
}

TierConstants fit_tiers(const std::vector<TierSample>& samples,
                        const std::vector<RatioSample>& ratios) {
  STARLING_CHECK(!samples.empty());
  double typical = 0;
  double batch = 0;
  for (const TierSample& s : samples) {
    typical += s.iteration_s / static_cast<double>(samples.size());
    batch += s.batch / static_cast<double>(samples.size());
  }
  std::vector<double> fitted(samples.size());
  // Squares first, for they have a slope everywhere, then what is reported.
  std::vector<double> start;
  const auto loss = [&](const std::vector<double>& x, bool squares) {
    const TierConstants c = constants_at(x);
    const auto cost = [squares](double error) { return squares ? error * error : std::abs(error); };
    double sum = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const TierSample& s = samples[i];
      fitted[i] = std::log(c.iteration_s(s.batch, s.micro, s.gpus, s.across) / s.iteration_s);
      sum += cost(fitted[i]) / static_cast<double>(samples.size());
    }
    for (const RatioSample& r : ratios)
      sum +=
          kRatioWeight * cost(fitted[r.near] - fitted[r.far]) / static_cast<double>(ratios.size());
    // Holds coordinates that no sample speaks for.
    for (std::size_t i = 0; i < x.size(); ++i) sum += 1e-5 * (x[i] - start[i]) * (x[i] - start[i]);
    return std::isfinite(sum) ? sum : std::numeric_limits<double>::max();
  };
  Minimum best;
  best.value = std::numeric_limits<double>::max();
  for (const double sync_part : {0.5, 0.05}) {
    for (const double gamma : {-2.0, 0.0}) {
      start = {std::log(typical * 0.2),
               std::log(typical * 0.5 / std::max(batch, 1.0)),
               std::log(typical * sync_part * 0.3),
               std::log(typical * sync_part * 0.01),
               std::log(typical * sync_part),
               std::log(typical * sync_part * 0.02),
               gamma};
      const Minimum rough =
          minimize([&](const auto& x) { return loss(x, true); }, start, 1.0, 900, 3);
      const Minimum fine =
          minimize([&](const auto& x) { return loss(x, false); }, rough.at, 0.3, 700, 2);
      if (fine.value < best.value) best = fine;
    }
  }
  return constants_at(best.at);
}

double mean_relative_error(const TierConstants& constants, const std::vector<TierSample>& samples) {
  double sum = 0;
  for (const TierSample& s : samples) {
    sum += std::abs(constants.iteration_s(s.batch, s.micro, s.gpus, s.across) / s.iteration_s - 1);
  }
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

}  // namespace starling
