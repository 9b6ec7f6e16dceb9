// SPDX-License-Identifier: Apache-2.0
#include "interference/pace/server_curve.h"

#include <numeric>

namespace starling {

std::array<double, 5> ServerCurve::terms(double workers, double servers,
                                         double batch) const noexcept {
  if (synchronous) return {batch / workers, 1, workers / servers, workers, servers};
  return {1, workers / servers, workers, servers, 0};
}

double ServerCurve::speed(double workers, double servers, double batch) const noexcept {
  const std::array<double, 5> by = terms(workers, servers, batch);
  const double seconds = std::inner_product(by.begin(), by.end(), theta.begin(), 0.0);
  return (synchronous ? 1 : workers) / seconds;
}

}  // namespace starling
