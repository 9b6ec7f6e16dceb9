// SPDX-License-Identifier: Apache-2.0
// The part of Gavel's policy that knows which jobs may share GPUs, and which do.
#include <algorithm>

#include "interference/memory.h"
#include "interference/profile.h"
#include "policies/gavel/gavel.h"
#include "policies/parts/evict.h"

namespace starling {

bool GavelPolicy::shares(const View& view) const {
  return gavel_.sharing && view.gpus.jobs_per_gpu() > 1;
}

std::size_t GavelPolicy::kind_of(const JobSpec& job) {
  const auto alike = [&](const JobSpec& other) {
    return other.model == job.model && other.workers == job.workers &&
           other.gpus_per_worker == job.gpus_per_worker &&
           other.cpus_per_worker == job.cpus_per_worker && other.gpu_types == job.gpu_types &&
           other.run == job.run;
  };
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), alike);
  const auto kind = static_cast<std::size_t>(found - kinds_.begin());
  if (kind == kinds_.size()) kinds_.push_back(job);
  return kind;
}

const GavelProblem::Pair& GavelPolicy::pair_of(const View& view, std::size_t first,
                                               std::size_t second) {
  const auto [entry, fresh] = pairs_.try_emplace({first, second});
  GavelProblem::Pair& pair = entry->second;
  if (!fresh) return pair;
  pair = {first, second, std::vector<double>(types_.size()), std::vector<double>(types_.size())};
  const JobSpec& a = kinds_[first];
  const JobSpec& b = kinds_[second];
  if (a.gpus() != b.gpus()) return pair;
  const JobProfile one = profile_of(a);
  const JobProfile other = profile_of(b);
  for (std::size_t t = 0; t < types_.size(); ++t) {
    const auto allowed = [&](const JobSpec& job) {
      return job.gpu_types.empty() || std::find(job.gpu_types.begin(), job.gpu_types.end(),
                                                types_[t].name) != job.gpu_types.end();
    };
    if (!allowed(a) || !allowed(b)) continue;
    const auto placement = find_on(rounds_.empty(), a, types_[t].name);
    if (!placement || !fits_together(one, other, view.topology, placement->front())) continue;
    const auto speed = [&](const JobProfile& job, const Neighbours& beside) {
      return view.speed.speed(job, *placement, beside).relative;
    };
    const double fast = speed(one, {{other, *placement}});
    const double fast_other = speed(other, {{one, *placement}});
    const double alone = speed(one, {});
    const double alone_other = speed(other, {});
    if (alone <= 0 || alone_other <= 0) continue;
    if (fast / alone + fast_other / alone_other <= 1) continue;
    pair.first_speed[t] = fast;
    pair.second_speed[t] = fast_other;
  }
  return pair;
}

void GavelPolicy::see_neighbours(const View& view) {
  std::map<GpuId, JobId> on;
  for (const JobView& job : view.running) {
    Known& known = known_.at(job.spec->id);
    known.beside.reset();
    if (!known.runs || !lies_here(view.gpus, job.placement)) continue;
    const auto [first, fresh] = on.try_emplace(job.placement.front(), job.spec->id);
    if (fresh) continue;
    Known& other = known_.at(first->second);
    known.beside = first->second;
    other.beside = job.spec->id;
    const bool swapped = other.kind < known.kind;
    const GavelProblem::Pair& pair =
        pair_of(view, std::min(known.kind, other.kind), std::max(known.kind, other.kind));
    known.speed_beside = (swapped ? pair.second_speed : pair.first_speed)[*known.runs];
    other.speed_beside = (swapped ? pair.first_speed : pair.second_speed)[*known.runs];
  }
}

GavelShares GavelPolicy::allocate_shared(const View& view, GavelProblem& problem) {
  std::vector<std::size_t> kinds;
  for (GavelProblem::Row& row : problem.rows) {
    row.kind = known_.at(row.job).kind;
    kinds.push_back(row.kind);
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  for (std::size_t a = 0; a < kinds.size(); ++a) {
    for (std::size_t b = a; b < kinds.size(); ++b) {
      const GavelProblem::Pair& pair = pair_of(view, kinds[a], kinds[b]);
      const bool anywhere = std::any_of(pair.first_speed.begin(), pair.first_speed.end(),
                                        [](double speed) { return speed > 0; });
      if (anywhere) problem.pairs.push_back(pair);
    }
  }
  return share_gpus(problem, gavel_.objective);
}

}  // namespace starling
