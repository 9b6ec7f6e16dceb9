// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/returns.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.h"

namespace starling {
namespace {

std::vector<double> sums(const std::vector<double>& values) {
  std::vector<double> out{0};
  for (const double value : values) out.push_back(out.back() + value);
  return out;
}

std::size_t count_to(const std::vector<double>& ascending, double s) {
  return static_cast<std::size_t>(std::ranges::upper_bound(ascending, s) - ascending.begin());
}

}  // namespace

JobsOverTime::JobsOverTime(std::span<const std::pair<double, double>> jobs) {
  for (const auto& [submit, finish] : jobs) {
    submit_.push_back(submit);
    finish_.push_back(finish);
  }
  std::ranges::sort(submit_);
  std::ranges::sort(finish_);
  submit_sum_ = sums(submit_);
  finish_sum_ = sums(finish_);
}

double JobsOverTime::at(double s) const {
  return static_cast<double>(count_to(submit_, s)) - static_cast<double>(count_to(finish_, s));
}

double JobsOverTime::area(double s) const {
  const std::size_t came = count_to(submit_, s), went = count_to(finish_, s);
  if (came == 0) return 0;
  return (static_cast<double>(came) * s - submit_sum_[came]) -
         (static_cast<double>(went) * s - finish_sum_[went]);
}

Returns advantages(std::span<const double> at_h, std::span<const double> reward,
                   std::span<const double> value, double discount, double lambda) {
  STARLING_CHECK(at_h.size() == reward.size() && at_h.size() == value.size());
  Returns out;
  out.advantage.resize(at_h.size());
  out.target.resize(at_h.size());
  double next_value = 0, next_advantage = 0;
  for (std::size_t k = at_h.size(); k-- > 0;) {
    const double hours = k + 1 < at_h.size() ? at_h[k + 1] - at_h[k] : 0;
    const double kept = std::pow(discount, hours);
    const double error = reward[k] + kept * next_value - value[k];
    out.advantage[k] = error + kept * std::pow(lambda, hours) * next_advantage;
    out.target[k] = out.advantage[k] + value[k];
    next_value = value[k];
    next_advantage = out.advantage[k];
  }
  return out;
}

}  // namespace starling
