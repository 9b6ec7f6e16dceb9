// SPDX-License-Identifier: Apache-2.0
#include "policies/fractional/pack_run.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/check.h"

namespace starling {
namespace {

void shuffle(std::vector<std::uint32_t>& order, Rng& rng) {
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[rng.below(static_cast<std::uint32_t>(left))]);
}

/// Adds pods or drops the last ones until they ask for `target` thousandths of a GPU.
void inflate(std::span<const Pod> pods, std::int64_t target, Rng& rng,
             std::vector<std::uint32_t>& order) {
  std::int64_t asked = 0;
  for (const std::uint32_t pod : order) asked += pods[pod].total_gpu_milli();
  while (asked < target) {
    order.push_back(rng.below(static_cast<std::uint32_t>(pods.size())));
    asked += pods[order.back()].total_gpu_milli();
  }
  while (!order.empty() && asked - pods[order.back()].total_gpu_milli() >= target) {
    asked -= pods[order.back()].total_gpu_milli();
    order.pop_back();
  }
}

constexpr std::size_t kProgressEvery = 256;

}  // namespace

Result<std::vector<PackStep>> pack_arrivals(std::span<const Pod> pods,
                                            std::int64_t cluster_gpu_milli,
                                            const ArrivalOptions& options, Rng rng) {
  std::vector<std::uint32_t> order(pods.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  if (options.shuffle) shuffle(order, rng);
  if (options.inflate > 0) {
    if (std::none_of(pods.begin(), pods.end(), [](const Pod& p) { return p.gpus > 0; }))
      return {Errc::invalid, "no pod asks for a GPU, so their demand for GPUs cannot be inflated"};
    inflate(pods, std::llround(options.inflate * static_cast<double>(cluster_gpu_milli)), rng,
            order);
    if (options.shuffle) shuffle(order, rng);
  }
  std::vector<PackStep> steps;
  steps.reserve(order.size());
  for (const std::uint32_t pod : order)
    steps.push_back({pod, false, static_cast<std::uint32_t>(steps.size())});
  return steps;
}

std::vector<PackStep> pack_lifetimes(std::span<const Pod> pods) {
  std::vector<PackStep> steps;
  steps.reserve(2 * pods.size());
  for (std::uint32_t i = 0; i < pods.size(); ++i) {
    // A pod that leaves as it comes would leave before it came.
    if (pods[i].deleted == pods[i].created) continue;
    steps.push_back({i, false, i});
    steps.push_back({i, true, i});
  }
  const auto at = [&](const PackStep& s) {
    return s.leaves ? pods[s.pod].deleted : pods[s.pod].created;
  };
  std::stable_sort(steps.begin(), steps.end(), [&](const PackStep& a, const PackStep& b) {
    if (at(a) != at(b)) return at(a) < at(b);
    return a.leaves && !b.leaves;
  });
  return steps;
}

std::vector<PackEvent> pack(Packer& packer, const Demands& demands, std::span<const PackStep> steps,
                            const std::function<void(std::size_t)>& progress) {
  std::vector<PackEvent> events;
  events.reserve(steps.size());
  std::uint32_t arrivals = 0;
  for (const PackStep& step : steps) arrivals = std::max(arrivals, step.arrival + 1);
  std::vector<std::optional<Placed>> places(arrivals);
  PackEvent now;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const PackStep& step = steps[i];
    if (i % kProgressEvery == 0) progress(i);
    const std::uint32_t demand = demands.of_pod[step.pod];
    std::optional<Placed>& place = places[step.arrival];
    now.pod = step.pod;
    if (step.leaves) {
      if (!place) continue;
      now.what = PackEvent::What::left;
      now.where = *place;
      packer.remove(demand, *place);
      place.reset();
    } else {
      STARLING_CHECK(!place);
      place = packer.place(demand);
      now.arrived_gpu_milli += demands.all[demand].total_gpu_milli();
      now.what = place ? PackEvent::What::placed : PackEvent::What::unscheduled;
      now.where = place.value_or(Placed{});
      now.unscheduled += place ? 0U : 1U;
    }
    now.allocated_gpu_milli = packer.shares().allocated_gpu_milli();
    now.fragments = packer.shares().fragments();
    events.push_back(now);
  }
  progress(steps.size());
  return events;
}

}  // namespace starling
