// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/statistics.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "base/check.h"

namespace starling {

double t_quantile(double share, std::size_t degrees) {
  STARLING_CHECK(degrees > 0 && share > 0 && share < 1);
  return boost::math::quantile(boost::math::students_t(static_cast<double>(degrees)), share);
}

Interval interval95(std::span<const double> sample) {
  Interval out;
  out.n = sample.size();
  if (sample.empty()) return out;
  const auto n = static_cast<double>(sample.size());
  for (const double x : sample) out.mean += x / n;
  if (sample.size() < 2) return out;
  double squares = 0;
  for (const double x : sample) squares += (x - out.mean) * (x - out.mean);
  out.half = t_quantile(0.975, sample.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return out;
}

double median(std::vector<double> sample) {
  if (sample.empty()) return 0;
  std::sort(sample.begin(), sample.end());
  const std::size_t middle = sample.size() / 2;
  if (sample.size() % 2 == 1) return sample[middle];
  return (sample[middle - 1] + sample[middle]) / 2;
}

}  // namespace starling
