// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/rank_curves.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "interference/gpu_speed.h"
#include "interference/profile.h"
#include "policies/elastic/division.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr double kSlowest = 1e-9;

/// Up to so many workers every size counts; beyond, so many between one power of two and the next,
/// which are multiples of what servers have: only corners of the hull matter.
constexpr std::uint32_t kEachSize = 64, kSizesPerDoubling = 8;

std::uint32_t next_size(std::uint32_t workers, std::uint32_t most) {
  const std::uint32_t step = workers < kEachSize ? 1 : std::bit_floor(workers) / kSizesPerDoubling;
  const std::uint32_t next = (workers / step + 1) * step;
  return workers < most ? std::min(next, most) : most + 1;
}

std::uint32_t gpus_of_type(const Occupancy& gpus, GpuTypeId type) {
  std::uint32_t count = 0;
  for (std::uint32_t s = gpus.servers().first; s < gpus.servers().last; ++s) {
    const Server& server = gpus.topology().server(ServerId{s});
    if (server.gpus.size() > 0 && server.gpu_type == type) count += server.gpus.size();
  }
  return count;
}

}  // namespace

double RankSpeeds::of(std::uint32_t type, std::uint32_t gpus) const {
  const auto& list = sizes[type];
  const auto at = std::ranges::lower_bound(list, gpus, {}, &RankSize::gpus);
  return at != list.end() && at->gpus == gpus ? at->speed : 0;
}

bool RankSpeeds::never() const {
  return !needs_types && std::ranges::all_of(sizes, [](const auto& list) { return list.empty(); });
}

WorkerRange workers_of(const JobSpec& job) {
  if (!job.elastic()) return {job.workers, job.workers};
  return {std::max(job.min_workers, 1U), job.max_workers};
}

std::vector<double> type_costs(const Topology& topology, double exponent) {
  std::vector<double> costs;
  for (const GpuType& type : topology.gpu_types())
    costs.push_back(std::pow(std::max(gpu_speed_factor(type.name), 1e-3), exponent));
  return costs;
}

std::optional<Placement> place_on_type(const Occupancy& gpus, const Shape& shape,
                                       const JobSpec& job, std::uint32_t workers, GpuTypeId type) {
  if (auto found = place_evenly(gpus, job, workers, type)) return found;
  JobSpec sized = job;
  sized.workers = workers;
  sized.gpu_types = {gpus.topology().gpu_types()[type.value].name};
  return place(gpus, shape, sized, Fit::count);
}

std::uint64_t RankCurves::version(const View& view) {
  if (model_ != view.speed.version()) known_ = {}, model_ = view.speed.version();
  return model_;
}

std::shared_ptr<const RankSpeeds> RankCurves::of(const View& view, const Shape& shape,
                                                 const Occupancy& empty, const JobSpec& job) {
  (void)version(view);
  const WorkerRange workers = resizes_ ? workers_of(job) : WorkerRange{job.workers, job.workers};
  const Kind kind(job.model, job.gpus_per_worker, job.workers, workers.least, workers.most,
                  job.cpus_per_worker, job.memory_gib_per_worker, job.gpu_types, job.run);
  return known_.of(kind, [&] {
    auto speeds = std::make_shared<RankSpeeds>();
    double fastest = 0;
    for (std::uint16_t t = 0; t < view.topology.gpu_types().size(); ++t) {
      auto& sizes = speeds->sizes.emplace_back();
      const GpuTypeId type{t};
      if (!allows(job, view.topology, type)) continue;
      const std::uint32_t there = gpus_of_type(empty, type) / job.gpus_per_worker;
      const std::uint32_t last = std::min(workers.most, there);
      double frugal = 0;
      for (std::uint32_t k = workers.least; k <= last; k = next_size(k, last)) {
        const std::uint32_t gpus = k * job.gpus_per_worker;
        const auto place = place_on_type(empty, shape, job, k, type);
        if (!place) continue;
        const double pace = progress_rate(view.speed, profile_of(job, gpus), *place, {}, {});
        sizes.push_back({gpus, std::max(pace, kSlowest)});
        frugal = std::max(frugal, sizes.back().speed / gpus);
        speeds->most = std::max(speeds->most, sizes.back().speed);
      }
      if (sizes.empty()) continue;
      const double typical = gpu_speed_factor(view.topology.gpu_types()[t].name);
      if (typical <= fastest) continue;
      fastest = typical;
      speeds->least_gpu_s = 1 / frugal;
    }
    if (speeds->never()) {
      JobSpec smallest = job;
      smallest.workers = workers.least;
      speeds->needs_types = place(empty, shape, smallest, Fit::count).has_value();
    }
    return std::shared_ptr<const RankSpeeds>(std::move(speeds));
  });
}

}  // namespace starling
