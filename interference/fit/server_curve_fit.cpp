// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/server_curve_fit.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

constexpr std::size_t kTerms = 5;
constexpr int kSweeps = 20000;
constexpr double kStill = 1e-12;  // of the largest constant

}  // namespace

ServerCurve fit_server_curve(std::span<const ServerSample> samples, bool synchronous) {
  ServerCurve curve;
  curve.synchronous = synchronous;
  // Normal equations of terms * theta = 1, both sides in units of the measured time.
  std::array<std::array<double, kTerms>, kTerms> square{};
  std::array<double, kTerms> right{};
  for (const ServerSample& s : samples) {
    std::array<double, kTerms> row = curve.terms(s.workers, s.servers, s.batch);
    const double measured = (synchronous ? 1 : s.workers) / s.speed;
    for (double& value : row) value /= measured;
    for (std::size_t i = 0; i < kTerms; ++i) {
      right[i] += row[i];
      for (std::size_t j = 0; j < kTerms; ++j) square[i][j] += row[i] * row[j];
    }
  }
  // Each constant in turn at its best with the others held, cut at 0: the problem is convex, so
  // that ends at its only minimum.
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double moved = 0;
    for (std::size_t i = 0; i < kTerms; ++i) {
      if (square[i][i] <= 0) continue;
      double rest = right[i];
      for (std::size_t j = 0; j < kTerms; ++j) {
        if (j != i) rest -= square[i][j] * curve.theta[j];
      }
      const double next = std::max(0.0, rest / square[i][i]);
      moved = std::max(moved, std::abs(next - curve.theta[i]));
      curve.theta[i] = next;
    }
    if (moved <= kStill * *std::max_element(curve.theta.begin(), curve.theta.end())) break;
  }
  return curve;
}

}  // namespace starling
