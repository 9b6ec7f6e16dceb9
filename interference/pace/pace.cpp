// SPDX-License-Identifier: Apache-2.0
#include "interference/pace/pace.h"

#include <algorithm>
#include <cmath>

#include "interference/goodput/profiles.h"
#include "interference/goodput/scaling.h"

namespace starling {
namespace {

// What a step computes, in samples where the batch is known.
struct Batches {
  double asked = 0;      // of a step at the size asked for
  double untouched = 0;  // of one with these GPUs, if the allocation says nothing of batches
  double batch = 0;      // of one as it runs
  GradientWork work;
};

double asked_gpus(const JobProfile& job, double gpus) { return job.asked > 0 ? job.asked : gpus; }

// T_grad with a local batch, in that with another.
double work_part(const GoodputProfile* profile, double local, double asked) {
  if (profile == nullptr) return local / asked;
  return profile->time.grad_s(local) / profile->time.grad_s(asked);
}

Batches batches_of(const JobProfile& job, double gpus, const Allocation& how, std::uint32_t batch,
                   const GoodputProfile* profile) {
  const double size = asked_gpus(job, gpus);
  const std::uint32_t said = batch > 0 ? batch : job.batch;
  const bool known = said > 0 || profile != nullptr;
  Batches b;
  b.asked = said > 0 ? said : profile != nullptr ? profile->limits.own * size : size;
  const double own = b.asked / size;
  const bool divided = job.parameter_servers > 0;
  b.untouched = divided ? b.asked : own * gpus;
  b.work = {divided ? size / gpus : 1, how.accumulation + 1, how.servers};
  b.batch = b.untouched;
  if (how.local_batch > 0 && known) {
    const double local = how.local_batch * (how.workers > 0 ? how.workers : gpus) / gpus;
    b.work.part = work_part(profile, local, own);
    b.batch = local * gpus;
  }
  b.batch *= b.work.gradients;
  return b;
}

Batches batches_of(const PaceQuestion& q, const GoodputProfile* profile) {
  return batches_of(q.job, static_cast<double>(q.placement.size()), q.allocation, q.batch, profile);
}

double efficiency_of(const Batches& b, const GoodputProfile* profile, double done) {
  if (profile == nullptr) return 1;
  const auto at = [&](double batch) {
    return statistical_efficiency(profile->noise.phi(done, batch), profile->noise.own_batch, batch);
  };
  return at(b.batch) / at(b.asked);
}

Pace gang_pace(const IterationForm& form, const PaceQuestion& q, const PaceOptions& options) {
  const GoodputProfile* profile = goodput_profile(model_profile(q.job.model));
  const Batches b = batches_of(q, profile);
  const double untouched_s = form.iteration_s(q.job, q.placement, q.beside);
  Pace pace;
  pace.step_s = form.iteration_s(q.job, q.placement, q.beside, b.work);
  pace.batch = b.batch;
  if (options.goodput) pace.efficiency = efficiency_of(b, profile, q.done);
  pace.relative = form.relative(q.job, q.placement, q.beside) * form.scaling(q.job) *
                  (untouched_s / pace.step_s) * (b.batch / b.untouched) * pace.efficiency;
  return pace;
}

// Each server's part by itself. Noise is left out: what averaging makes of it is `averaged`.
Pace averaged_pace(const IterationForm& form, const PaceQuestion& q, const PaceOptions& options) {
  Pace all;
  all.efficiency = options.averaged;
  JobProfile copy = q.job;
  copy.asked = static_cast<std::uint32_t>(asked_gpus(q.job, q.job.gpus));
  for (std::size_t i = 0; i < q.placement.size();) {
    const ServerId server = form.topology().server_of(q.placement[i]);
    Placement part;
    while (i < q.placement.size() && form.topology().server_of(q.placement[i]) == server)
      part.push_back(q.placement[i++]);
    copy.gpus = static_cast<std::uint32_t>(part.size());
    PaceQuestion its{copy, part, q.beside, q.allocation, q.batch, q.done};
    its.allocation.workers = 0;
    const Pace pace = gang_pace(form, its, {});
    all.step_s = std::max(all.step_s, pace.step_s);
    all.batch += pace.batch;
    all.relative += options.averaged * pace.relative;
  }
  return all;
}

}  // namespace

Pace pace(const IterationForm& form, const PaceQuestion& question, const PaceOptions& options) {
  const auto server_of = [&](GpuId gpu) { return form.topology().server_of(gpu); };
  const Placement& gpus = question.placement;
  // On one server there is one copy, and nothing to average.
  const bool copies = question.allocation.averaged && !gpus.empty() &&
                      server_of(gpus.front()) != server_of(gpus.back());
  return copies ? averaged_pace(form, question, options) : gang_pace(form, question, options);
}

double training_pace(const IterationForm& form, const PaceQuestion& question, bool goodput) {
  const Pace found = pace(form, question);
  const GoodputProfile* profile = goodput_profile(model_profile(question.job.model));
  if (!goodput || profile == nullptr || question.allocation.averaged) return found.relative;
  const double asked = batches_of(question, profile).asked;
  return found.relative * training_efficiency(profile->noise, asked, found.batch);
}

GradientReport gradient_report(const JobProfile& job, std::size_t gpus, const Allocation& how,
                               double done) {
  const GoodputProfile* profile = goodput_profile(model_profile(job.model));
  if (profile == nullptr || gpus == 0) return {};
  const double batch = batches_of(job, static_cast<double>(gpus), how, 0, profile).batch;
  return {profile->noise.phi(std::clamp(done, 0.0, 1.0), batch),
          static_cast<std::uint32_t>(std::lround(std::min(batch, 1e9)))};
}

}  // namespace starling
