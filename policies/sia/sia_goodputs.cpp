// SPDX-License-Identifier: Apache-2.0
#include "policies/sia/sia_goodputs.h"

#include <algorithm>

#include "interference/profile.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr std::uint32_t kServersOneByOne = 8;
constexpr double kLeastPace = 1e-9;

}  // namespace

std::uint32_t least_gpus_of(const JobSpec& job) {
  return job.elastic() ? std::max(job.min_workers, 1U) * job.gpus_per_worker : job.gpus();
}

std::uint32_t most_gpus_of(const JobSpec& job) {
  return job.elastic() ? job.max_workers * job.gpus_per_worker : job.gpus();
}

void SiaGoodputs::observe(const View& view, const Occupancy& empty) {
  if (options_.measured) curves_.observe(view);
  if (model_ != view.speed.version() || kinds_.size() > kMostKinds) kinds_.clear();
  model_ = view.speed.version();
  if (!types_.empty()) return;
  for (std::uint32_t s = empty.servers().first; s < empty.servers().last; ++s) {
    const Server& server = empty.topology().server(ServerId{s});
    if (server.gpus.size() > 0) types_.push_back(server.gpu_type);
  }
  std::ranges::sort(types_);
  types_.erase(std::unique(types_.begin(), types_.end()), types_.end());
}

std::optional<Placement> SiaGoodputs::find_place(const Occupancy& gpus, const JobSpec& job,
                                                 GpuTypeId type, std::uint32_t count) const {
  JobSpec sized = job;
  sized.workers = count / std::max(job.gpus_per_worker, 1U);
  if (!allows(job, gpus.topology(), type)) return std::nullopt;
  if (types_.size() > 1) sized.gpu_types = {gpus.topology().gpu_types()[type.value].name};
  return place(gpus, shape_of(gpus), sized, Fit::server);
}

std::vector<std::uint32_t> SiaGoodputs::sizes_on(const Occupancy& empty, const JobSpec& job,
                                                 GpuTypeId type) const {
  if (!job.elastic()) return {job.gpus()};
  JobSpec on = job;
  on.gpu_types = {empty.topology().gpu_types()[type.value].name};
  const Shape shape = shape_for(empty, on);
  const std::uint32_t worker = std::max(job.gpus_per_worker, 1U);
  const std::uint32_t server = usable(shape.server, worker);
  const std::uint32_t least = least_gpus_of(job), most = std::min(most_gpus_of(job), shape.gpus);
  std::vector<std::uint32_t> sizes{least};
  for (std::uint32_t gpus = worker; gpus < server; gpus *= 2) sizes.push_back(gpus);
  for (std::uint32_t n = 1; server > 0 && n * server <= most;
       n += std::max(1U, n / kServersOneByOne))
    sizes.push_back(n * server);
  std::erase_if(sizes, [&](std::uint32_t gpus) {
    return gpus < least || gpus > std::max(least, most) || gpus % worker != 0;
  });
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<SiaGoodputs::Known>& SiaGoodputs::known_of(const Occupancy& empty, const JobSpec& job) {
  const auto [at, fresh] = kinds_.try_emplace(
      Kind(job.model, job.gpus_per_worker, job.workers, job.min_workers, job.max_workers,
           job.cpus_per_worker, job.memory_gib_per_worker, job.gpu_types, job.run));
  if (!fresh) return at->second;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    if (!allows(job, empty.topology(), types_[t])) continue;
    for (const std::uint32_t gpus : sizes_on(empty, job, types_[t]))
      at->second.push_back({t, gpus});
  }
  return at->second;
}

void SiaGoodputs::ask(const View& view, const Occupancy& empty, const JobSpec& job, Known& known) {
  known.asked = true;
  auto place = find_place(empty, job, types_[known.type], known.gpus);
  if (!place) return;
  known.alone = view.speed.speed(profile_of(job, 1), {place->front()}, {}).relative;
  known.how = allocation(view, job, *place);
  known.modelled = progress_rate(view.speed, profile_of(job, known.gpus), *place, {}, known.how);
  if (known.alone > 0 && known.modelled > 0) known.place = *std::move(place);
}

double SiaGoodputs::goodput(const View& view, const JobSpec& job, const Known& known) const {
  if (!options_.measured) return std::max(known.modelled, kLeastPace);
  if (const auto pace = curves_.pace(view, job, known.place, known.how))
    return std::max(*pace, kLeastPace);
  return std::max(known.alone * known.gpus / job.gpus(), kLeastPace);
}

std::vector<SiaProblem::Choice> SiaGoodputs::of(const View& view, const Occupancy& empty,
                                                const JobSpec& job, std::uint32_t most) {
  std::vector<SiaProblem::Choice> out;
  for (Known& known : known_of(empty, job)) {
    if (known.gpus > std::max(most, least_gpus_of(job))) continue;
    if (!known.asked) ask(view, empty, job, known);
    if (known.place.empty()) continue;
    out.push_back({known.type, known.gpus, goodput(view, job, known)});
  }
  return out;
}

double SiaGoodputs::pace(const View& view, const JobView& job) const {
  const JobSpec& spec = *job.spec;
  const Placement& there = job.placement;
  const auto gpus = static_cast<std::uint32_t>(there.size());
  double pace = 0;
  if (!options_.measured) {
    pace = progress_rate(view.speed, profile_of(spec, gpus), there, {}, job.allocation);
  } else if (const auto believed = curves_.pace(view, spec, there, job.allocation)) {
    pace = *believed;
  } else {
    pace = view.speed.speed(profile_of(spec, 1), {there.front()}, {}).relative * gpus / spec.gpus();
  }
  return std::max(pace, kLeastPace);
}

Allocation SiaGoodputs::allocation(const View& view, const JobSpec& job,
                                   const Placement& placement) {
  return options_.rebatches && job.elastic() ? batches_.best(view, job, placement) : Allocation{};
}

}  // namespace starling
