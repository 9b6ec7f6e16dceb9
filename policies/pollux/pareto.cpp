// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/pareto.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace starling {
namespace {

/// Of one front, whose first goals descend: its second ones ascend.
void crowd(std::span<const TwoGoals> plans, const std::vector<std::size_t>& front,
           std::vector<ParetoPlace>& places) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < front.size(); ++i) {
    if (i == 0 || i + 1 == front.size()) {
      places[front[i]].crowding = kInfinite;
      continue;
    }
    double sum = 0;
    for (std::size_t goal = 0; goal < 2; ++goal) {
      const double wide = plans[front.front()][goal] - plans[front.back()][goal];
      if (wide != 0) sum += (plans[front[i - 1]][goal] - plans[front[i + 1]][goal]) / wide;
    }
    places[front[i]].crowding = sum;
  }
}

}  // namespace

bool dominates(const TwoGoals& a, const TwoGoals& b) noexcept {
  return a[0] >= b[0] && a[1] >= b[1] && (a[0] > b[0] || a[1] > b[1]);
}

std::vector<ParetoPlace> pareto_places(std::span<const TwoGoals> plans) {
  std::vector<std::size_t> order(plans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return plans[a] > plans[b]; });
  // In this order a plan is dominated by a front exactly if by the last that joined it, so the
  // fronts are found by bisection (Jensen 2003).
  std::vector<std::vector<std::size_t>> fronts;
  std::vector<ParetoPlace> places(plans.size());
  for (const std::size_t i : order) {
    const auto front = std::partition_point(fronts.begin(), fronts.end(),
                                            [&](const std::vector<std::size_t>& members) {
                                              return dominates(plans[members.back()], plans[i]);
                                            });
    places[i].rank = static_cast<std::uint32_t>(front - fronts.begin());
    if (front == fronts.end())
      fronts.push_back({i});
    else
      front->push_back(i);
  }
  for (const auto& front : fronts) crowd(plans, front, places);
  return places;
}

std::vector<std::size_t> pareto_best(std::span<const ParetoPlace> places, std::size_t most) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return places[a].rank != places[b].rank ? places[a].rank < places[b].rank
                                            : places[a].crowding > places[b].crowding;
  });
  order.resize(std::min(order.size(), most));
  return order;
}

}  // namespace starling
