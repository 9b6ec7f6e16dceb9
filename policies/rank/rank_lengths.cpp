// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/rank_lengths.h"

#include <algorithm>
#include <vector>

namespace starling {
namespace {

/// As its home tells, which has kept account of how long a job really worked; else as far as it was
/// seen to have come.
Residents::Move end_of(const View& view, std::uint64_t order, std::uint64_t group,
                       Instant submitted, double done_s) {
  Residents::Move move{true, true, order, group, submitted, {}, done_s};
  const auto gone = std::ranges::find(view.departed, order, &DepartedJob::order);
  if (gone == view.departed.end()) return move;
  if (gone->served > Duration{0}) move.work_s = seconds(gone->served);
  move.worked = gone->fate != JobFate::moved;
  return move;
}

}  // namespace

/// How far those who have gone had come the progress knows until it sees that they have.
void RankLengths::observe(const View& view) {
  learn(view);
  progress_.observe(view);
}

void RankLengths::learn(const View& view) {
  std::vector<Residents::Move> moves;
  seen_.begin();
  for (const auto jobs : {view.waiting, view.running}) {
    for (const JobView& job : jobs) {
      const auto [seen, fresh] = seen_.see(job.order);
      if (fresh) seen = {job.spec->id, recurring_group_of(*job.spec), job.submitted};
      if (seen.started || (job.placement.empty() && job.served == Duration{0})) continue;
      seen.started = true;
      moves.push_back({false, false, job.order, seen.group, seen.submitted, view.now, 0});
    }
  }
  seen_.end([&](std::uint64_t order, const Seen& seen) {
    if (!seen.started) return;
    moves.push_back(end_of(view, order, seen.group, seen.submitted, progress_.done_s(seen.job)));
  });
  if (!moves.empty()) forecast_.follow(moves, view.now);
}

double RankLengths::left_s(const JobView& job, Instant now) const {
  const JobSpec& spec = *job.spec;
  if (believes_ && spec.duration > Duration::zero()) return progress_.left_s(spec);
  const double left = forecast_.left(recurring_group_of(spec), job.submitted,
                                     progress_.done_s(spec.id), now, job.order);
  return std::max(left, 1.0);
}

void RankLengths::resume(ElasticProgress progress, Forecast forecast) {
  progress_ = std::move(progress);
  forecast_ = std::move(forecast);
}

}  // namespace starling
