// SPDX-License-Identifier: Apache-2.0
#include "policies/elastic/believed_curves.h"

#include <algorithm>
#include <utility>

#include "interference/pace/pace.h"
#include "interference/profile.h"

namespace starling {
namespace {

/// Samples of a GPU as its user asks; 1 where that is not known.
double local_batch_of(const JobSpec& spec, const JobView* measured) {
  if (measured != nullptr && measured->batch > 0 && measured->allocation.as_asked() &&
      !measured->placement.empty())
    return static_cast<double>(measured->batch) / static_cast<double>(measured->placement.size());
  const auto said = gradient_report(profile_of(spec), spec.gpus(), {}, 0);
  return said.batch > 0 ? static_cast<double>(said.batch) / spec.gpus() : 1;
}

bool several_types(const View& view) {
  const IndexRange all = view.gpus.servers();
  for (std::uint32_t s = all.first; s < all.last; ++s) {
    if (view.topology.server(ServerId{s}).gpu_type !=
        view.topology.server(ServerId{all.first}).gpu_type)
      return true;
  }
  return false;
}

}  // namespace

BelievedCurves::Kind BelievedCurves::kind_of(const JobSpec& job) {
  return {job.model, job.gpus_per_worker, job.workers};
}

/// On the fewest servers that could hold it.
StepShape BelievedCurves::asked_shape(const View& view, const JobSpec& job, double local) {
  std::uint32_t largest = 1;
  const IndexRange all = view.gpus.servers();
  for (std::uint32_t s = all.first; s < all.last; ++s)
    largest = std::max(largest, view.topology.server(ServerId{s}).gpus.size());
  StepShape shape;
  shape.local_batch = local;
  shape.replicas = job.gpus();
  shape.servers = (job.gpus() + largest - 1) / largest;
  shape.tier = shape.servers > 1 ? Tier::rack : Tier::server;
  return shape;
}

StepShape BelievedCurves::shape_of(const View& view, const JobSpec& job, const Placement& placement,
                                   const Allocation& how, double local) {
  StepShape shape;
  const auto gpus = static_cast<std::uint32_t>(placement.size());
  shape.local_batch = local;
  shape.replicas = gpus;
  if (how.local_batch > 0 && gpus > 0) {
    const std::uint32_t workers = std::max(gpus / std::max(job.gpus_per_worker, 1U), 1U);
    shape.local_batch = static_cast<double>(how.local_batch) * workers / gpus;
  } else if (profile_of(job).parameter_servers > 0 && gpus > 0) {
    shape.local_batch = local * job.gpus() / gpus;  // one batch for all workers
  }
  shape.accumulation = how.accumulation;
  shape.tier = view.topology.tier_of(placement);
  for (std::size_t i = 1; i < placement.size(); ++i) {
    if (view.topology.server_of(placement[i]) != view.topology.server_of(placement[i - 1]))
      ++shape.servers;
  }
  return shape;
}

/// Of one GPU like its slowest, as the speed model says.
double BelievedCurves::type_speed(const View& view, const JobSpec& job,
                                  const Placement& placement) {
  if (!several_types(view)) return 1;
  const JobProfile one = profile_of(job, 1);
  double slowest = 1;
  std::optional<GpuTypeId> last;
  for (const GpuId gpu : placement) {
    const GpuTypeId type = view.topology.type_of(gpu);
    if (last == type) continue;
    last = type;
    slowest = std::min(slowest, view.speed.speed(one, {gpu}, {}).relative);
  }
  return std::max(slowest, 1e-3);
}

void BelievedCurves::observe(const View& view) {
  for (auto& [id, curve] : curves_) curve.seen = false;
  for (const JobView& job : view.waiting) {
    if (const auto known = curves_.find(job.spec->id); known != curves_.end())
      known->second.seen = true;
  }
  for (const JobView& job : view.running) measure(view, job);
  std::erase_if(curves_, [&](const auto& entry) {
    if (entry.second.seen) return false;
    remember_kind(entry.second);
    return true;
  });
}

void BelievedCurves::measure(const View& view, const JobView& job) {
  auto known = curves_.find(job.spec->id);
  if (known != curves_.end()) known->second.seen = true;
  if (!(job.pace > 0) || job.measured_at == kNever || job.placement.empty()) return;
  if (known == curves_.end()) {
    if (curves_.size() >= kMostJobs) return;
    const double local = local_batch_of(*job.spec, &job);
    const StepShape asked = asked_shape(view, *job.spec, local);
    const auto kind = kinds_.find(kind_of(*job.spec));
    OnlineFit fit =
        kind == kinds_.end() ? OnlineFit(asked) : OnlineFit(asked, kind->second.parameters);
    if (kind != kinds_.end()) kind->second.used = ++uses_;
    known = curves_.emplace(job.spec->id, Curve{kind_of(*job.spec), std::move(fit), local}).first;
  }
  Curve& curve = known->second;
  if (curve.at == job.measured_at) return;
  curve.at = job.measured_at;
  if (job.noise_scale > 0) curve.fit.set_noise(job.noise_scale);
  if (!curve.fit.is_due()) due_.push_back(job.spec->id);
  curve.fit.add(shape_of(view, *job.spec, job.placement, job.allocation, curve.local_batch),
                type_speed(view, *job.spec, job.placement), job.pace);
  ++version_;
}

void BelievedCurves::learn() {
  for (std::size_t fits = 0; fits < kFitsAtOnce && !due_.empty(); due_.pop_back()) {
    const auto known = curves_.find(due_.back());
    if (known == curves_.end() || !known->second.fit.is_due()) continue;
    known->second.fit.fit();
    known->second.fitted = true;
    ++fits;
  }
}

void BelievedCurves::remember_kind(const Curve& curve) {
  if (!curve.fitted) return;
  kinds_[curve.kind] = {curve.fit.parameters(), ++uses_};
  ++version_;
  if (kinds_.size() <= kMostKinds) return;
  kinds_.erase(std::min_element(kinds_.begin(), kinds_.end(), [](const auto& a, const auto& b) {
    return a.second.used < b.second.used;
  }));
}

bool BelievedCurves::knows(const JobSpec& job) const {
  const auto known = curves_.find(job.id);
  return (known != curves_.end() && known->second.fitted) || kinds_.contains(kind_of(job));
}

std::optional<double> BelievedCurves::pace(const View& view, const JobSpec& job,
                                           const Placement& placement,
                                           const Allocation& how) const {
  if (placement.empty()) return std::nullopt;
  const double type = type_speed(view, job, placement);
  const auto known = curves_.find(job.id);
  if (known != curves_.end() && known->second.fitted) {
    const Curve& curve = known->second;
    return curve.fit.pace(shape_of(view, job, placement, how, curve.local_batch), type);
  }
  const auto like = of_kind(view, job);
  if (!like) return std::nullopt;
  return like->pace(shape_of(view, job, placement, how, like->asked().local_batch), type);
}

std::optional<OnlineFit> BelievedCurves::of_kind(const View& view, const JobSpec& job) const {
  const auto kind = kinds_.find(kind_of(job));
  if (kind == kinds_.end()) return std::nullopt;
  return OnlineFit(asked_shape(view, job, local_batch_of(job, nullptr)), kind->second.parameters);
}

std::optional<OnlineFit> BelievedCurves::curve(const View& view, const JobSpec& job) const {
  const auto known = curves_.find(job.id);
  if (known != curves_.end() && known->second.fitted) return known->second.fit;
  return of_kind(view, job);
}

std::uint32_t BelievedCurves::most_measured(JobId job) const {
  std::uint32_t most = 0;
  const auto known = curves_.find(job);
  if (known == curves_.end()) return most;
  for (const OnlineFit::Sample& sample : known->second.fit.samples())
    most = std::max(most, sample.shape.replicas);
  return most;
}

}  // namespace starling
