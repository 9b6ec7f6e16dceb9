// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/remaining_times.h"

#include <algorithm>

namespace starling {
namespace {

constexpr double kOverrun = 0.05;  // of its work so far, for a job beyond its estimate

double of_estimate(Duration estimate, double done) {
  return std::max(seconds(estimate) - done, kOverrun * done);
}

double done_by(const Resident& job, Instant now) {
  return job.work_s + seconds(now - job.work_at) * (job.speed > 0 ? job.speed : 1);
}

JobView fresh(const JobSpec& job, Instant submitted) {
  JobView view;
  view.spec = &job;
  view.submitted = submitted;
  return view;
}

}  // namespace

double RemainingTimes::left(const Resident& job, Instant now) const {
  const double done = done_by(job, now);
  if (job.estimate > Duration::zero()) return of_estimate(job.estimate, done);
  return forecast_.left(job.recurring_group, job.submitted, done, now, job.order);
}

double RemainingTimes::left(const JobView& job, Instant now) const {
  const double done = seconds(job.served);
  if (job.spec->duration > Duration::zero()) return of_estimate(job.spec->duration, done);
  return forecast_.left(recurring_group_of(*job.spec), job.submitted, done, now);
}

double RemainingTimes::draw(const Resident& job, Instant now, double u) const {
  const double done = done_by(job, now);
  if (job.estimate > Duration::zero()) return of_estimate(job.estimate, done);
  return forecast_.draw(job.recurring_group, job.submitted, done, now, u, job.order);
}

double RemainingTimes::draw(const JobView& job, Instant now, double u) const {
  const double done = seconds(job.served);
  if (job.spec->duration > Duration::zero()) return of_estimate(job.spec->duration, done);
  return forecast_.draw(recurring_group_of(*job.spec), job.submitted, done, now, u);
}

double RemainingTimes::left(const JobSpec& job, Instant submitted, Instant now) const {
  return left(fresh(job, submitted), now);
}

double RemainingTimes::draw(const JobSpec& job, Instant submitted, Instant now, double u) const {
  return draw(fresh(job, submitted), now, u);
}

}  // namespace starling
