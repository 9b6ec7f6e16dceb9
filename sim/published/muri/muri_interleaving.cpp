// SPDX-License-Identifier: Apache-2.0
#include "sim/published/muri/muri_interleaving.h"

#include <algorithm>
#include <cmath>

#include "sim/published/muri/weighted_matching.h"

namespace starling {
namespace {

constexpr std::uint32_t kClusterGpus = kMuriServers * kMuriServerGpus;

/// How much longer an iteration of 2, 3 and 4 jobs was measured to take than their turns; the
/// program has 1.3 for four where neighbours are joined.
constexpr double kAlone = 1.015;
std::array<double, 3> extra_times(const MuriOptions& options) {
  return {1.33 / kAlone, 1.5 / kAlone, (options.matching ? 1.37 : 1.3) / kAlone};
}

std::uint32_t gpus_of(const std::vector<MuriJob*>& group) { return group.front()->gpus; }

}  // namespace

MuriInterleaving::MuriInterleaving(const MuriOptions& options)
    : options_(options), stages_(extra_times(options)) {}

void MuriInterleaving::enter(MuriJob& job) {
  const std::uint32_t kind = stages_.kind_of({job.iteration_s, job.stages_s});
  const bool left = options_.service == ServiceOrder::least_left;
  known_[&job] = {kind, left ? job.duration_s * job.gpus : 0, 0};
  if (options_.service == ServiceOrder::queues) queues_.enter(job);
}

void MuriInterleaving::leave(MuriJob& job) {
  known_.erase(&job);
  if (options_.service == ServiceOrder::queues) queues_.leave(job);
}

std::optional<double> MuriInterleaving::next_change_s(double now_s,
                                                      const std::vector<MuriJob*>& jobs) const {
  if (options_.service != ServiceOrder::queues) return std::nullopt;
  return queues_.next_move_s(now_s, jobs);
}

bool MuriInterleaving::together(double end_s, double comes_s) const noexcept {
  constexpr double kSame_s = 1e-4, kRelative = 1e-9;
  return std::isfinite(end_s) && std::isfinite(comes_s) &&
         std::abs(end_s - comes_s) <= std::max(kRelative * std::max(end_s, comes_s), kSame_s);
}

MuriInterleaving::Kinds MuriInterleaving::kinds_of(const Group& group) const {
  Kinds kinds;
  for (const MuriJob* job : group) kinds.push_back(known_.at(job).kind);
  return kinds;
}

/// Each job a group of its own; sizes in the order of their first jobs.
std::vector<MuriInterleaving::Size> MuriInterleaving::let_in(
    const std::vector<MuriJob*>& jobs) const {
  std::vector<Size> sizes;
  std::map<std::uint32_t, std::size_t> at;
  for (MuriJob* job : jobs) {
    const auto [found, fresh] = at.try_emplace(job->gpus, sizes.size());
    if (fresh) sizes.push_back({job->gpus, {}, 0});
    sizes[found->second].groups.push_back({job});
  }
  std::map<std::uint32_t, std::size_t> seen;
  MuriServers free;
  for (const MuriJob* job : jobs) {
    Size& size = sizes[at[job->gpus]];
    const bool in_a_place = seen[job->gpus]++ < size.places * options_.group;
    if (!in_a_place && free.take(job->gpus)) ++size.places;
  }
  for (Size& size : sizes)
    size.groups.resize(std::min(size.groups.size(), size.places * options_.group));
  return sizes;
}

void MuriInterleaving::join_neighbours(std::vector<Size>& sizes) const {
  std::uint32_t needed = 0;
  for (const Size& size : sizes)
    needed += size.gpus * static_cast<std::uint32_t>(size.groups.size());
  for (Size& size : sizes) {
    std::vector<Group> joined;
    for (std::size_t first = 0; first < size.groups.size(); first += options_.group) {
      Group group = size.groups[first];
      const std::size_t end = std::min(first + options_.group, size.groups.size());
      for (std::size_t i = first + 1; i < end; ++i) {
        if (needed > kClusterGpus) {
          group.push_back(size.groups[i].front());
          needed -= size.gpus;
        } else {
          joined.push_back(size.groups[i]);
        }
      }
      joined.push_back(std::move(group));
    }
    size.groups = std::move(joined);
  }
}

const std::vector<std::size_t>& MuriInterleaving::mates_of(const Size& size, std::size_t round) {
  std::vector<Kinds> nodes;
  for (const Group& group : size.groups) nodes.push_back(kinds_of(group));
  Matched& matched = matched_[{size.gpus, round}];
  if (matched.nodes == nodes) return matched.mates;
  // Weights by kinds of groups, of which there are few.
  std::map<Kinds, std::size_t> numbers;
  std::vector<std::size_t> number;
  number.reserve(nodes.size());
  for (const Kinds& kinds : nodes)
    number.push_back(numbers.try_emplace(kinds, numbers.size()).first->second);
  std::vector<std::vector<double>> weights(numbers.size(), std::vector<double>(numbers.size()));
  for (const auto& [a, i] : numbers) {
    for (const auto& [b, j] : numbers) {
      if (a.size() + b.size() > options_.group) continue;
      Kinds both = a;
      both.insert(both.end(), b.begin(), b.end());
      weights[i][j] = stages_.used(both, options_.order);
    }
  }
  matched.mates = heaviest_matching(
      nodes.size(), [&](std::size_t u, std::size_t v) { return weights[number[u]][number[v]]; });
  matched.nodes = std::move(nodes);
  return matched.mates;
}

void MuriInterleaving::join_by_matching(std::vector<Size>& sizes) {
  std::uint32_t needed = 0;
  for (const Size& size : sizes)
    needed += size.gpus * static_cast<std::uint32_t>(size.groups.size());
  for (std::size_t round = 0; round < options_.group; ++round) {
    for (Size& size : sizes) {
      const std::vector<std::size_t>& mates = mates_of(size, round);
      std::vector<Group> joined;
      for (std::size_t u = 0; u < size.groups.size(); ++u) {
        const std::size_t v = mates[u];
        if (v != kUnmatched && v > u) continue;  // comes with the other one
        if (v == kUnmatched) {
          joined.push_back(size.groups[u]);
        } else if (needed <= kClusterGpus) {
          joined.push_back(size.groups[v]);
          joined.push_back(size.groups[u]);
        } else {
          Group group = size.groups[v];
          group.insert(group.end(), size.groups[u].begin(), size.groups[u].end());
          joined.push_back(std::move(group));
          needed -= size.gpus;
        }
      }
      size.groups = std::move(joined);
    }
    if (needed <= kClusterGpus) break;
  }
}

/// Those that get GPUs, the largest first.
std::vector<MuriInterleaving::Group> MuriInterleaving::placed(const std::vector<Size>& sizes) {
  std::vector<std::pair<std::size_t, Group>> groups;  // by the rank of their first jobs
  for (const Size& size : sizes) {
    for (const Group& group : size.groups) {
      double alone_s = 0;
      std::size_t first = known_.at(group.front()).rank;
      for (const MuriJob* job : group) {
        alone_s += job->iteration_s;
        first = std::min(first, known_.at(job).rank);
      }
      if (group.size() > 1 && stages_.iteration_s(kinds_of(group), StageOrder::best) > alone_s) {
        for (MuriJob* job : group) groups.push_back({known_.at(job).rank, {job}});
      } else {
        groups.push_back({first, group});
      }
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Group> taken;
  MuriServers free;
  for (auto& [rank, group] : groups)
    if (free.take(gpus_of(group))) taken.push_back(std::move(group));
  return taken;
}

void MuriInterleaving::run(const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    const double iteration_s = stages_.iteration_s(kinds_of(group), options_.order);
    double overhead_s = 0;
    for (const MuriJob* job : group) overhead_s += job->overhead_s;
    for (MuriJob* job : group) {
      job->runs = true;
      job->shared_iteration_s = iteration_s;
      job->shared_overhead_s = overhead_s;
    }
  }
}

std::vector<MuriJob*> MuriInterleaving::in_order(std::vector<MuriJob*>& jobs) {
  if (options_.service == ServiceOrder::queues) {
    queues_.move_on(jobs);
    return queues_.in_order();
  }
  const bool left = options_.service == ServiceOrder::least_left;
  for (MuriJob* job : jobs)
    if (job->runs) known_[job].service_s = (left ? job->left_s() : job->executed_s) * job->gpus;
  std::stable_sort(jobs.begin(), jobs.end(), [&](const MuriJob* a, const MuriJob* b) {
    return known_.at(a).service_s < known_.at(b).service_s;
  });
  return jobs;
}

void MuriInterleaving::choose(double /*now_s*/, std::vector<MuriJob*>& jobs) {
  const std::vector<MuriJob*> order = in_order(jobs);
  for (std::size_t i = 0; i < order.size(); ++i) known_[order[i]].rank = i;
  for (MuriJob* job : jobs) job->runs = false;
  std::vector<Size> sizes = let_in(order);
  if (options_.matching) {
    join_by_matching(sizes);
  } else {
    join_neighbours(sizes);
  }
  run(placed(sizes));
  if (options_.service == ServiceOrder::queues) queues_.put_running_first();
  // The published program gives out GPUs anew, the largest gangs first, so that all fit that were
  // chosen; in this order the next event finds its equals.
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const MuriJob* a, const MuriJob* b) { return a->gpus > b->gpus; });
}

}  // namespace starling
