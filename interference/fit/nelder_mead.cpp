// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/nelder_mead.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

using Function = std::function<double(const std::vector<double>&)>;

// centre + factor * (point - centre)
std::vector<double> along(const std::vector<double>& centre, const std::vector<double>& point,
                          double factor) {
  std::vector<double> out(centre.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = centre[i] + factor * (point[i] - centre[i]);
  return out;
}

Minimum search(const Function& function, const std::vector<double>& start, double step,
               std::uint32_t evaluations) {
  const std::size_t n = start.size();
  std::vector<Minimum> simplex{{start, function(start)}};
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> corner = start;
    corner[i] += step;
    const double value = function(corner);
    simplex.push_back({std::move(corner), value});
  }
  const auto by_value = [](const Minimum& a, const Minimum& b) { return a.value < b.value; };
  for (std::uint32_t used = 0; used < evaluations;) {
    std::stable_sort(simplex.begin(), simplex.end(), by_value);
    if (simplex.back().value - simplex.front().value < 1e-10) break;
    std::vector<double> centre(n, 0);
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t i = 0; i < n; ++i) centre[i] += simplex[c].at[i] / static_cast<double>(n);
    }
    Minimum& worst = simplex.back();
    const auto attempt = [&](double factor) {
      std::vector<double> at = along(centre, worst.at, factor);
      const double value = function(at);
      ++used;
      return Minimum{std::move(at), value};
    };
    Minimum reflected = attempt(-1);
    if (reflected.value < simplex.front().value) {
      Minimum expanded = attempt(-2);
      worst = expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
      continue;
    }
    if (reflected.value < simplex[n - 1].value) {
      worst = std::move(reflected);
      continue;
    }
    Minimum contracted = attempt(reflected.value < worst.value ? -0.5 : 0.5);
    if (contracted.value < std::min(reflected.value, worst.value)) {
      worst = std::move(contracted);
      continue;
    }
    for (std::size_t c = 1; c <= n; ++c) {
      simplex[c].at = along(simplex.front().at, simplex[c].at, 0.5);
      simplex[c].value = function(simplex[c].at);
      ++used;
    }
  }
  return *std::min_element(simplex.begin(), simplex.end(), by_value);
}

}  // namespace

Minimum minimize(const Function& function, const std::vector<double>& start, double step,
                 std::uint32_t evaluations, std::uint32_t rounds) {
  Minimum best = search(function, start, step, evaluations);
  for (std::uint32_t i = 1; i < rounds; ++i) {
    Minimum again = search(function, best.at, step / 2, evaluations);
    if (again.value < best.value) best = std::move(again);
  }
  return best;
}

}  // namespace starling
