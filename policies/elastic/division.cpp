// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/division.h"

#include <algorithm>
#include <cmath>

#include "interference/profile.h"
#include "policies/parts/restart.h"
#include "workload/requirements.h"

namespace starling {

bool ElasticCapacity::take(const ElasticCapacity& all, const JobSpec& job, std::uint32_t workers) {
  const double more_gpus = static_cast<double>(job.gpus_per_worker) * workers;
  // One that asks for more CPUs than there are gets them all rather than never running.
  const double more_cpus = std::min(cpus_of_worker(job) * workers, all.cpus);
  constexpr double kSlack = 1e-9;
  if (more_gpus > gpus + kSlack || more_cpus > cpus + kSlack) return false;
  gpus -= more_gpus;
  cpus -= more_cpus;
  return true;
}

ElasticCapacity capacity_of(const Occupancy& gpus) {
  ElasticCapacity all;
  all.gpus = gpus.gpus().size();
  for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s)
    all.cpus += gpus.topology().server(ServerId{s}).cpus;
  return all;
}

std::int64_t dominant_share(const ElasticCapacity& all, const JobSpec& job, std::uint32_t workers) {
  const double gpus = job.gpus_per_worker / std::max(all.gpus, 1.0);
  const double cpus = all.cpus > 0 ? cpus_of_worker(job) / all.cpus : 0;
  return std::max<std::int64_t>(1, std::llround(std::max(gpus, cpus) * 1e9)) * workers;
}

std::optional<Placement> Division::choose(const ElasticCall& call, const Occupancy& gpus,
                                          const ElasticShare& share) const {
  for (std::uint32_t workers = share.workers; workers >= share.least && workers > 0; --workers) {
    if (auto found = find_workers(call, gpus, *share.job->spec, workers)) return found;
  }
  return std::nullopt;
}

double Division::gained_s(const ElasticCall&, const ElasticShare& share, const Placement& to,
                          double horizon_s) const {
  return horizon_s * (1 - static_cast<double>(share.job->placement.size()) /
                              static_cast<double>(std::max<std::size_t>(to.size(), 1)));
}

double Division::restart_s(const JobSpec& job) const {
  constexpr double kOtherwise = 60;
  return restart_cost_s(job, kOtherwise);
}

double ElasticSpeeds::rest_s(const Division& division, const ElasticCall& call,
                             const ElasticShare& share, std::uint32_t workers) {
  const JobSpec& job = *share.job->spec;
  const Key kind(job.model, job.gpus_per_worker, job.workers, workers, job.cpus_per_worker,
                 job.gpu_types, job.run);
  return share.left_s / speeds_.of(kind, [&] {
    const SpeedModel& speed = call.view.speed;
    const JobProfile profile = profile_of(job, workers * job.gpus_per_worker);
    const auto placement = division.find_workers(call, call.empty, job, workers);
    const double pace = placement ? progress_rate(speed, profile, *placement, {},
                                                  division.allocation(call, job, *placement))
                                  : speed.scaling(profile);
    return std::max(pace, 1e-9);
  });
}

std::optional<Placement> ElasticPlaces::of(const Division& division, const ElasticCall& call,
                                           const JobSpec& job, std::uint32_t workers) {
  return places_.of(Key(workers, job.gpus_per_worker, demand_of(job), job.gpu_types),
                    [&] { return division.find_workers(call, call.empty, job, workers); });
}

double ElasticSpeeds::rest_on_s(const View& view, const ElasticShare& share,
                                const Placement& placement, const Allocation& how) {
  const JobProfile profile =
      profile_of(*share.job->spec, static_cast<std::uint32_t>(placement.size()));
  return share.left_s / std::max(progress_rate(view.speed, profile, placement, {}, how), 1e-9);
}

}  // namespace starling
