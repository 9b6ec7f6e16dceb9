// SPDX-License-Identifier: Apache-2.0
#include "gnn/search/true_future.h"

#include <algorithm>

namespace starling {
namespace {

constexpr double kLeastLeft_s = 60;  // of a job that runs although it should have ended by now

}  // namespace

TrueFuture::TrueFuture(const Trace& trace) : trace_(trace) {
  for (const TraceJob& job : trace.jobs) work_s_[job.spec.id] = seconds(job.spec.duration);
}

RolloutFuture TrueFuture::at(const DecisionPoint& point, std::size_t arrivals) const {
  RolloutFuture out;
  const View& view = point.view;
  for (const JobView& job : view.waiting) out.waiting_s.push_back(work_s_.at(job.spec->id));
  if (oracle_ != nullptr) {
    for (const JobView& job : view.running) {
      const Oracle::Left left = oracle_->left(job.spec->id);
      out.running_s.push_back(left.work_s);
      out.starting_s.push_back(left.starting_s);
    }
  } else {
    Residents& residents = point.candidates.residents();
    for (std::size_t i = 0; i < view.running.size(); ++i) {
      const std::uint32_t slot = residents.running()[i];
      const Resident& job = residents.at(slot);
      const double done =
          job.work_s + seconds(view.now - job.work_at) * residents.speed(view.speed, slot);
      out.running_s.push_back(std::max(work_s_.at(view.running[i].spec->id) - done, kLeastLeft_s));
    }
  }
  const Duration now = view.now.time_since_epoch();
  auto next = std::upper_bound(trace_.jobs.begin(), trace_.jobs.end(), now,
                               [](Duration at, const TraceJob& job) { return at < job.submit; });
  for (; next != trace_.jobs.end() && out.arrivals.size() < arrivals; ++next) {
    RolloutArrival arrival{next->submit - now, next->spec, seconds(next->spec.duration)};
    arrival.spec.duration = Duration::zero();
    out.arrivals.push_back(std::move(arrival));
  }
  return out;
}

}  // namespace starling
