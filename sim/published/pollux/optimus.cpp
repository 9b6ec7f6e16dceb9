// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/published/pollux/free_nodes.h"
#include "sim/published/pollux/schedulers.h"

namespace starling {
namespace {

std::uint32_t most_gpus(const PolluxJob& job) {
  if (job.application().name() == "ncf") return 1;
  return static_cast<std::uint32_t>(
      std::floor(job.asked().batch / job.application().limits().least_local));
}

double steps_left(const PolluxJob& job) {
  const PolluxApplication& application = job.application();
  const double batch = job.asked().batch;
  const double left = application.iterations(batch, application.epochs() - 1) -
                      application.iterations(batch, job.epoch());
  return left > 0 ? left : 1;
}

}  // namespace

/// On as few nodes as hold so many.
double OptimusThere::step_s(const PolluxJob& job, std::uint32_t gpus) {
  const auto [known, fresh] = step_s_[&job].try_emplace(gpus, 0.0);
  if (fresh) {
    NodeCounts packed(gpus / cluster_.gpus_per_node, cluster_.gpus_per_node);
    if (gpus % cluster_.gpus_per_node != 0) packed.push_back(gpus % cluster_.gpus_per_node);
    // One GPU always accumulates here, if its batch is the application's own too.
    BatchLimits limits = job.application().limits();
    if (gpus == 1) limits.own = 0;
    const BatchSplit split = split_batch(job.asked().batch, gpus, limits);
    const MeasuredStep step =
        job.application().steps().step(packed, static_cast<std::uint32_t>(split.local_batch));
    known->second = step.step_s + split.accumulation * step.grad_s();
  }
  return known->second;
}

std::vector<std::uint32_t> OptimusThere::divide(std::span<const PolluxJob* const> jobs) {
  std::uint32_t left = cluster_.nodes * cluster_.gpus_per_node;
  std::vector<std::uint32_t> gpus(jobs.size(), 0);
  std::vector<double> gain(jobs.size(), 0);
  const auto reckon = [&](std::size_t i) {
    const bool may = gpus[i] > 0 && gpus[i] < most_gpus(*jobs[i]);
    gain[i] =
        may ? (step_s(*jobs[i], gpus[i]) - step_s(*jobs[i], gpus[i] + 1)) * steps_left(*jobs[i])
            : 0;
  };
  for (std::size_t i = 0; i < jobs.size() && left > 0; ++i, --left) gpus[i] = 1;
  for (std::size_t i = 0; i < jobs.size(); ++i) reckon(i);
  while (left > 0) {
    const auto best = std::max_element(gain.begin(), gain.end());
    if (best == gain.end() || *best <= 0) break;
    const auto i = static_cast<std::size_t>(best - gain.begin());
    ++gpus[i];
    --left;
    reckon(i);
  }
  return gpus;
}

std::vector<NodeList> OptimusThere::decide(std::int64_t /*now_s*/,
                                           std::span<const PolluxJob* const> jobs) {
  const std::vector<std::uint32_t> gpus = divide(jobs);
  std::vector<NodeList> lists(jobs.size());
  FreeNodes free(cluster_.nodes, cluster_.gpus_per_node);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i]->nodes().size() != gpus[i]) continue;
    lists[i] = jobs[i]->nodes();
    free.take(lists[i]);
  }
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return gpus[a] < gpus[b]; });
  for (const std::size_t i : order) {
    if (lists[i].size() != gpus[i]) lists[i] = free.take_most_free(gpus[i]);
  }
  return lists;
}

}  // namespace starling
