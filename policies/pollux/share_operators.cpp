// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/share_operators.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

constexpr double kReset = 0.1, kClear = 0.1, kCleared = 0.1;

void sort_nodes(std::vector<NodeShare>& row) {
  std::sort(row.begin(), row.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
}

void drop_empty(std::vector<NodeShare>& row) {
  std::erase_if(row, [](const NodeShare& share) { return share.replicas == 0; });
}

}  // namespace

ShareOperators::ShareOperators(const SharingProblem& problem, const ShareSearchOptions& options)
    : problem_(problem),
      options_(options),
      rows_(problem.jobs.size()),
      counts_(problem.node_gpus.size(), 0) {}

std::pair<SharePlan, SharePlan> ShareOperators::cross(const SharePlan& a, const SharePlan& b,
                                                      Rng& rng) {
  const std::size_t jobs = a.jobs();
  const std::size_t point = rng.below(static_cast<std::uint32_t>(jobs));
  std::pair<SharePlan, SharePlan> out;
  out.first.add_rows(b, 0, point);
  out.first.add_rows(a, point, jobs);
  out.second.add_rows(a, 0, point);
  out.second.add_rows(b, point, jobs);
  return out;
}

std::vector<std::int64_t> ShareOperators::left_by(const SharePlan& plan) const {
  std::vector<std::int64_t> left(problem_.node_gpus.begin(), problem_.node_gpus.end());
  for (std::size_t job = 0; job < plan.jobs(); ++job) {
    for (const NodeShare& share : plan.of(job))
      left[share.node] -= std::int64_t{share.replicas} * problem_.jobs[job].gpus_per_replica;
  }
  return left;
}

void ShareOperators::mutate(SharePlan& plan, Rng& rng) {
  next_.clear();
  Row row;
  for (std::size_t job = 0; job < plan.jobs(); ++job) {
    const auto from = rng.chance(kReset) ? problem_.now.of(job) : plan.of(job);
    row.assign(from.begin(), from.end());
    if (rng.chance(kClear))
      std::erase_if(row, [&](const NodeShare&) { return rng.chance(kCleared); });
    next_.add(row);
  }
  const std::vector<std::int64_t> left = left_by(next_);
  std::map<std::uint32_t, std::vector<std::uint32_t>> open;  // nodes, by GPUs of a replica
  plan.clear();
  for (std::size_t job = 0; job < next_.jobs(); ++job) {
    const std::uint32_t each = problem_.jobs[job].gpus_per_replica;
    const auto [nodes, fresh] = open.try_emplace(each);
    if (fresh) {
      for (std::uint32_t node = 0; node < left.size(); ++node) {
        if (left[node] >= each) nodes->second.push_back(node);
      }
    }
    const auto from = next_.of(job);
    row.assign(from.begin(), from.end());
    if (!nodes->second.empty()) add_replicas(job, row, nodes->second, rng);
    plan.add(row);
  }
}

/// A node of `open` is hit with chance 1/|open|; those of them that the job is on, m, with 1/m as
/// well. Which are hit by the first chance is drawn by the gaps between them.
void ShareOperators::add_replicas(std::size_t job, Row& row, const std::vector<std::uint32_t>& open,
                                  Rng& rng) {
  const double log_miss = std::log1p(-1.0 / static_cast<double>(open.size()));  // -inf: none
  std::vector<std::uint32_t> hit;
  const auto gap = [&] {
    return open.size() == 1 ? 0.0 : std::floor(std::log(1.0 - rng.uniform()) / log_miss);
  };
  for (double at = gap(); at < static_cast<double>(open.size()); at += 1 + gap())
    hit.push_back(open[static_cast<std::size_t>(at)]);
  std::vector<std::uint32_t> own;
  for (const NodeShare& share : row) {
    if (std::ranges::binary_search(open, share.node)) own.push_back(share.node);
    counts_[share.node] = share.replicas;
  }
  for (const std::uint32_t node : own) {
    if (rng.chance(1.0 / static_cast<double>(own.size())) &&
        std::ranges::find(hit, node) == hit.end())
      hit.push_back(node);
  }
  for (const std::uint32_t node : hit) {
    const std::uint32_t had = counts_[node];
    const std::uint32_t most = problem_.most_on(job, node);
    if (most <= had) continue;
    counts_[node] = had + rng.below(most - had + 1);
    if (had == 0) row.push_back({node, 0});
  }
  for (NodeShare& share : row) share.replicas = std::exchange(counts_[share.node], 0U);
  drop_empty(row);
  sort_nodes(row);
}

/// No more than its most, on no more nodes than it may be on; which nodes lose is chance.
void ShareOperators::thin(std::size_t job, Row& row, Rng& rng) const {
  const std::uint32_t most = problem_.jobs[job].most;
  if (replicas_of(row) <= most && row.size() <= options_.most_nodes) return;
  for (std::size_t i = row.size(); i > 1; --i)
    std::swap(row[i - 1], row[rng.below(static_cast<std::uint32_t>(i))]);
  std::uint32_t sum = 0, nodes = 0;
  for (NodeShare& share : row) {
    share.replicas = nodes < options_.most_nodes ? std::min(share.replicas, most - sum) : 0;
    sum += share.replicas;
    nodes += share.replicas > 0 ? 1 : 0;
  }
  drop_empty(row);
  sort_nodes(row);
}

/// Replicas more that the node has room for.
std::uint32_t ShareOperators::room(std::size_t job, std::uint32_t node) const {
  const SharingJob& one = problem_.jobs[job];
  std::int64_t gpus = std::max<std::int64_t>(left_[node], 0);
  if (!means_.empty()) {
    const Demand& left = means_[node];
    if (one.each.cpus > 0)
      gpus = std::min(gpus, std::max<std::int64_t>(left.cpus, 0) / one.each.cpus);
    if (one.each.memory > 0)
      gpus = std::min(gpus, std::max<std::int64_t>(left.memory, 0) / one.each.memory);
  }
  return static_cast<std::uint32_t>(gpus) / one.gpus_per_replica;
}

void ShareOperators::take(std::size_t job, std::uint32_t node, std::int64_t replicas) {
  const SharingJob& one = problem_.jobs[job];
  const std::int64_t gpus = replicas * one.gpus_per_replica;
  left_[node] -= gpus;
  if (means_.empty()) return;
  means_[node].cpus -= gpus * one.each.cpus;
  means_[node].memory -= gpus * one.each.memory;
}

void ShareOperators::complete(std::size_t job, Row& row) {
  const SharingJob& one = problem_.jobs[job];
  const std::uint32_t has = replicas_of(row);
  if (has == 0 || has >= one.least) return;
  for (const NodeShare& share : row) {
    take(job, share.node, -std::int64_t{share.replicas});
    counts_[share.node] = share.replicas;
  }
  // On the fullest node that holds all of it; else first on its own nodes, then on those with most
  // room, nowhere beside another that spans nodes.
  std::vector<NodeShare> rooms, found;
  for (std::uint32_t node = 0; node < left_.size(); ++node) {
    const std::uint32_t most = std::min(problem_.most_on(job, node), room(job, node));
    if (most > 0) rooms.push_back({node, most});
    if (most >= one.least && (found.empty() || most < found.front().replicas))
      found = {{node, most}};
  }
  std::uint32_t missing = one.least;
  if (!found.empty()) found.front().replicas = std::exchange(missing, 0U);
  std::stable_sort(rooms.begin(), rooms.end(), [&](const NodeShare& a, const NodeShare& b) {
    return std::pair(counts_[a.node] > 0, a.replicas) > std::pair(counts_[b.node] > 0, b.replicas);
  });
  for (const NodeShare& share : rooms) {
    if (missing == 0 || found.size() == options_.most_nodes) break;
    const bool by_itself = row.size() > 1 && counts_[share.node] > 0;
    if (options_.avoid_interference && spanned_[share.node] && !by_itself) continue;
    found.push_back({share.node, std::min(share.replicas, missing)});
    missing -= found.back().replicas;
  }
  for (const NodeShare& share : row) counts_[share.node] = 0;
  row.clear();
  if (missing > 0) return;
  row = std::move(found);
  sort_nodes(row);
  for (const NodeShare& share : row) {
    take(job, share.node, share.replicas);
    if (row.size() > 1) spanned_[share.node] = true;
  }
}

void ShareOperators::repair(SharePlan& plan, Rng& rng) {
  left_.assign(problem_.node_gpus.begin(), problem_.node_gpus.end());
  means_ = problem_.node_means;
  spanned_.assign(problem_.node_gpus.size(), false);
  bool short_of = false;
  for (std::size_t job = 0; job < plan.jobs(); ++job) {
    Row& row = rows_[job];
    row.assign(plan.of(job).begin(), plan.of(job).end());
    if (options_.avoid_interference && row.size() > 1) {
      for (NodeShare& share : row) {
        if (spanned_[share.node]) share.replicas = 0;
        spanned_[share.node] = true;
      }
      drop_empty(row);
    }
    thin(job, row, rng);
    for (NodeShare& share : row) {
      share.replicas = std::min(share.replicas, room(job, share.node));
      share.replicas = std::min(share.replicas, problem_.most_on(job, share.node));
      take(job, share.node, share.replicas);
    }
    drop_empty(row);
    short_of = short_of || (!row.empty() && replicas_of(row) < problem_.jobs[job].least);
  }
  for (std::size_t job = 0; short_of && job < plan.jobs(); ++job) complete(job, rows_[job]);
  plan.clear();
  for (std::size_t job = 0; job < problem_.jobs.size(); ++job) plan.add(rows_[job]);
}

}  // namespace starling
