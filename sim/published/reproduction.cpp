// SPDX-License-Identifier: Apache-2.0
#include "sim/published/reproduction.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace starling {

double difference(const Figure& figure) noexcept {
  if (figure.ours == figure.published) return 0;
  const double more = figure.ours - figure.published;
  if (figure.published == 0)
    return std::isnan(more) ? more : std::copysign(std::numeric_limits<double>::infinity(), more);
  return more / std::abs(figure.published);
}

bool holds(const Figure& figure) noexcept {
  if (!figure.bound) return true;
  if (*figure.bound > 0) return std::abs(difference(figure)) <= *figure.bound;
  return std::abs(figure.ours - figure.published) <= 0.5 * std::pow(10.0, -figure.digits);
}

bool ReproductionReport::holds() const noexcept {
  return std::all_of(figures.begin(), figures.end(),
                     [](const Figure& figure) { return starling::holds(figure); });
}

}  // namespace starling
