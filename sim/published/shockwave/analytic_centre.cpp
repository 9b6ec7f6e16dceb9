// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/analytic_centre.h"

#include <Eigen/Core>
#include <algorithm>

namespace starling {
namespace {

using Array = Eigen::ArrayXd;

constexpr double kNoRoom = 1e-6;
constexpr double kDecrement = 1e-16;  // of Newton's method, squared: the end
constexpr int kMostSteps = 200;
constexpr double kWeight = 2;

}  // namespace

std::vector<double> analytic_centre(const std::vector<BoundedShare>& shares, double room) {
  const auto n = static_cast<Eigen::Index>(shares.size());
  Array low(n), gpus(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    low[i] = shares[static_cast<std::size_t>(i)].low;
    gpus[i] = shares[static_cast<std::size_t>(i)].gpus;
  }
  const double slack = room - (gpus * low).sum();
  Array x = low;
  if (n > 0 && slack >= kNoRoom) {
    x += (1 - low) * std::min(0.5, 0.5 * slack / (gpus * (1 - low)).sum());
    for (int k = 0; k < kMostSteps; ++k) {
      // The Hessian is a diagonal and one outer product more.
      const Array over = x - low, under = 1 - x;
      const Array outer = gpus / (room - (gpus * x).sum());
      const Array slope = -kWeight / over + 1 / under + outer;
      const Array diagonal = kWeight / over.square() + 1 / under.square();
      const double by = (outer * slope / diagonal).sum() / (1 + (outer.square() / diagonal).sum());
      const Array step = -(slope - outer * by) / diagonal;
      const auto inside = [&](const Array& y) {
        return (y > low).all() && (y < 1).all() && (gpus * y).sum() < room;
      };
      double far = 1;
      while (!inside(x + far * step)) far /= 2;
      x += (far < 1 ? 0.9 * far : 1) * step;
      if (-(slope * step).sum() < kDecrement) break;
    }
  }
  return {x.data(), x.data() + n};
}

}  // namespace starling
