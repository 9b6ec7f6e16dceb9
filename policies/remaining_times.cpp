#include "policies/remaining_times.h"

#include <algorithm>

namespace starling {
namespace {

constexpr double kOverrun = 0.05;  // of its work so far, for a job beyond its estimate

}  // namespace

double RemainingTimes::left(const Resident& job, Instant now) const {
  const double work = job.work_s + seconds(now - job.work_at) * (job.speed > 0 ? job.speed : 1);
  if (job.estimate <= Duration::zero()) return forecast_.left(job.kin, job.submitted, work, now, job.order);
  return std::max(seconds(job.estimate) - work, kOverrun * work);
}

double RemainingTimes::left(const JobView& job, Instant now) const {
  const double served = seconds(job.served);
  if (job.spec->duration > Duration::zero()) {
    return std::max(seconds(job.spec->duration) - served, kOverrun * served);
  }
  return forecast_.left(kin_of(*job.spec), job.submitted, served, now);
}

}  // namespace starling
