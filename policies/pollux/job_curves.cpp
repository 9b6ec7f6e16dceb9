// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/job_curves.h"

#include <algorithm>
#include <map>

#include "interference/goodput/profiles.h"
#include "interference/profile.h"
#include "policies/elastic/division.h"
#include "policies/parts/server_count.h"

namespace starling {
namespace {

/// Where the noise is not said it is taken to be that of this part of the training.
constexpr double kMiddle = 0.5;
constexpr std::uint32_t kMostModelled = 64;  // GPUs that the speed model is asked about

std::uint32_t largest_rack(const View& view) {
  std::map<std::uint32_t, std::uint32_t> servers;
  std::uint32_t most = 1;
  const IndexRange all = view.gpus.servers();
  for (std::uint32_t s = all.first; s < all.last; ++s)
    most = std::max(most, ++servers[view.topology.rack_of(ServerId{s})]);
  return most;
}

}  // namespace

void JobCurves::set_batch(KnownGoodput& known, const JobView& job, double local,
                          double noise) const {
  const JobSpec& spec = *job.spec;
  JobGoodput& curve = known.curve;
  curve.phi = noise;
  curve.limits = {local * spec.gpus(), local * spec.gpus(), 1, local};
  const GoodputProfile* profile = goodput_profile(model_profile(spec.model));
  if (profile != nullptr) {
    curve.limits.largest = std::max(profile->limits.largest, curve.limits.own);
    curve.limits.least_local = std::min(profile->limits.least_local, local);
    curve.limits.most_local = std::max(profile->limits.most_local, local);
  }
  if (spec.run.max_batch > 0)
    curve.limits.largest = std::max<double>(spec.run.max_batch, curve.limits.own);
  const bool adapts = adapts_ && noise > 0 && profile_of(spec).parameter_servers == 0;
  curve.own_local = adapts ? 0 : local;
}

KnownGoodput JobCurves::measured(const View& view, const JobView& job) const {
  KnownGoodput known;
  const auto fit = measured_.curve(view, *job.spec);
  known.known = fit.has_value();
  const std::uint32_t most = measured_.most_measured(job.spec->id);
  known.most_gpus = std::max(2 * most, known.known ? job.spec->gpus() : 1U);
  if (!fit) return known;
  known.curve.time = fit->time();
  set_batch(known, job, fit->asked().local_batch,
            job.noise_scale > 0 ? job.noise_scale : fit->noise());
  return known;
}

/// Fitted to its paces on as few servers as hold 1, 2, 4, ... GPUs.
StepTime JobCurves::modelled(const View& view, const JobSpec& job) {
  const auto [known, fresh] = modelled_.try_emplace(
      Kind(job.model, job.gpus_per_worker, job.workers, job.run.batch), StepTime{});
  if (!fresh) return known->second;
  const Occupancy empty(view.topology, view.gpus.servers());
  OnlineFit fit(StepShape{1, 0, job.gpus(), 1, Tier::server});
  for (std::uint32_t workers = 1; workers * job.gpus_per_worker <= kMostModelled; workers *= 2) {
    const auto placement = place_evenly(empty, job, workers);
    if (!placement) break;
    const auto gpus = static_cast<std::uint32_t>(placement->size());
    fit.add(
        {1, 0, gpus, server_count(view.topology, *placement), view.topology.tier_of(*placement)}, 1,
        progress_rate(view.speed, profile_of(job, gpus), *placement, {}, {}));
  }
  fit.fit();
  known->second = fit.time();
  return known->second;
}

KnownGoodput JobCurves::given(const View& view, const JobView& job) {
  KnownGoodput known;
  known.known = true;
  known.most_gpus = view.gpus.gpus().size();
  const JobSpec& spec = *job.spec;
  const GoodputProfile* profile = goodput_profile(model_profile(spec.model));
  if (profile == nullptr) {
    known.curve.time = modelled(view, spec);
    set_batch(known, job, 1, 0);
    return known;
  }
  known.curve.time = profile->time;
  const double local =
      spec.run.batch > 0 ? static_cast<double>(spec.run.batch) / spec.gpus() : profile->limits.own;
  set_batch(
      known, job, local,
      job.noise_scale > 0 ? job.noise_scale : profile->noise.phi(kMiddle, local * spec.gpus()));
  return known;
}

void JobCurves::observe(const View& view) {
  if (rack_ == 0) rack_ = largest_rack(view);
  if (!given_) measured_.observe(view);
}

KnownGoodput JobCurves::of(const View& view, const JobView& job) {
  KnownGoodput known = given_ ? given(view, job) : measured(view, job);
  known.curve.rack = rack_;
  return known;
}

}  // namespace starling
