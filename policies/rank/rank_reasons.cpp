// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/rank_reasons.h"

#include <algorithm>
#include <cstdio>

#include "base/counted.h"

namespace starling {
namespace {

/// Reasons that are kept of divisions between rounds, beyond those of the last one.
constexpr std::size_t kMostAdded = 4096;

template <class... Numbers>
std::string formatted(const char* format, Numbers... numbers) {
  char text[192];
  std::snprintf(text, sizeof text, format, numbers...);
  return text;
}

}  // namespace

void RankReasons::note(const View& view, const RankProblem& problem, const RankAnswer& answer,
                       const std::vector<Got>& jobs) {
  reasons_.clear();
  std::map<JobId, Instant> stopped;
  for (const Got& got : jobs) {
    const auto before = stopped_.find(got.job);
    if (got.gpus == 0 && (got.had > 0 || before != stopped_.end()))
      stopped.emplace(got.job, got.had > 0 ? view.now : before->second);
  }
  stopped_ = std::move(stopped);
  add(view, problem, answer, jobs);
}

void RankReasons::add(const View& view, const RankProblem& problem, const RankAnswer& answer,
                      const std::vector<Got>& jobs) {
  if (types_.empty()) {
    for (const GpuType& type : view.topology.gpu_types()) types_.push_back(type.name);
  }
  if (reasons_.size() > view.waiting.size() + view.running.size() + kMostAdded) reasons_.clear();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].asked) continue;
    const auto& more = answer.more[i];
    const auto& grant = answer.grants[i];
    const RankJob& job = problem.jobs[i];
    Reason& reason = reasons_[jobs[i].job];
    reason = {view.now, jobs.size(), answer.rank[i], job.aged, job.left_s, 0, jobs[i], grant, more};
    reason.price = more ? answer.price[more->type] : 0;
    reason.held = more && answer.held[more->type] && !job.stoppable;
    if (jobs[i].gpus > 0) reason.speed = grant ? grant->speed : std::max(job.base.speed, 1.0);
    const auto& wish = more ? more : grant;
    if (jobs[i].gpus > 0 || !wish || wish->type >= job.sizes.size()) continue;
    reason.type = wish->type;
    if (!job.sizes[wish->type].empty()) reason.least = job.sizes[wish->type].front().gpus;
  }
}

std::string RankReasons::gpus_of(std::uint32_t gpus, std::uint32_t type) const {
  return counted(gpus, "GPU", "GPUs") + " of " + types_[type];
}

std::string RankReasons::next_step(const Reason& reason) const {
  const RankGrant& more = *reason.more;
  const std::string size = gpus_of(more.gpus, more.type);
  if (reason.held)
    return "  " + size +
           " go to no job that they could not be taken back from: a gang that has "
           "waited too long needs them";
  if (more.value < reason.price)
    return formatted(
        "  for %s each GPU more is worth %.3g there; the last one given was worth %.3g: "
        "it would have them if %.1f times as many jobs were at least as long as it",
        size.c_str(), more.value, reason.price, reason.price / more.value);
  return formatted(
      "  for %s each GPU more is worth %.3g, which is enough, but not so many were left "
      "at its turn: it has them once they are free together",
      size.c_str(), more.value);
}

std::string RankReasons::why_other(const Reason& reason) const {
  const std::string part =
      "  its part was " +
      (reason.grant ? gpus_of(reason.grant->gpus, reason.grant->type) : std::string("none"));
  if (!reason.grant || reason.got.gpus > reason.grant->gpus)
    return part + ": it keeps what it has, which no other job needs";
  if (reason.got.gpus == 0) return part + ", and no place for them was left at its turn";
  return part +
         ", and no place for them was left at its turn, or none where they are fast enough to be "
         "worth it";
}

std::optional<RankReasons::Start> RankReasons::expected(const Reason& reason) const {
  if (reason.least == 0) return std::nullopt;
  std::uint32_t wanted = reason.least;
  struct End {
    double after_s;
    JobId job;
    std::uint32_t gpus;
  };
  std::vector<End> ends;
  const auto end_of = [&](const Reason& other) {
    return seconds(other.at - reason.at) + other.left_s / std::max(other.speed, 1e-9);
  };
  for (const auto& [id, other] : reasons_) {
    if (other.got.gpus == 0 && other.least > 0 && other.type == reason.type && other.more &&
        other.more->value > (reason.more ? reason.more->value : 0) && id != reason.got.job)
      wanted += other.least;
    if (other.got.gpus == 0 || other.got.type != reason.type) continue;
    End end{end_of(other), id, other.got.gpus};
    const auto beside = other.got.beside ? reasons_.find(*other.got.beside) : reasons_.end();
    if (beside != reasons_.end()) {  // both have to go
      if (beside->first < id) continue;
      if (const double later = end_of(beside->second); later > end.after_s)
        end.after_s = later, end.job = beside->first;
    }
    ends.push_back(end);
  }
  std::ranges::sort(ends, {}, [](const End& end) { return std::pair(end.after_s, end.job); });
  std::uint32_t free = 0;
  for (const End& end : ends) {
    free += end.gpus;
    if (free >= wanted) return Start{std::max(end.after_s, 0.0), end.job};
  }
  return std::nullopt;
}

std::string RankReasons::first_line(const Reason& reason) const {
  const double longer = reason.rank - static_cast<double>(reason.jobs) * reason.aged;
  std::string line =
      formatted("policy: at %.0f s ", seconds(reason.at.time_since_epoch())) +
      (reason.jobs == 1
           ? std::string("no other job shared what there was with it")
           : formatted("%.0f of the %zu jobs that shared what there was, itself one of them, were "
                       "at least as long as it",
                       longer, reason.jobs)) +
      formatted("; %.0f s of it were expected to be left, and it got ", reason.left_s) +
      (reason.got.gpus > 0 ? gpus_of(reason.got.gpus, reason.got.type) : "none");
  if (reason.got.gpus > 0 && reason.got.had > 0 && reason.got.had != reason.got.gpus)
    line += formatted(" in the place of %u", reason.got.had);
  return line;
}

/// Why it has nothing any more, and until when.
void RankReasons::add_waiting(const Reason& reason, std::vector<std::string>& lines) const {
  if (const auto stopped = stopped_.find(reason.got.job); stopped != stopped_.end())
    lines.push_back(formatted("  it was stopped at %.0f s: what it had is worth more to others",
                              seconds(stopped->second.time_since_epoch())));
  const auto start = expected(reason);
  if (!start) return;
  lines.push_back(
      "  " + formatted("it is expected to start about %.0f s after that, when ", start->after_s) +
      to_string(start->job) +
      " is to have ended and GPUs are left by those that go first; sooner or later as "
      "others come, end and are stopped");
}

std::vector<std::string> RankReasons::explain(JobId job) const {
  const auto at = reasons_.find(job);
  if (at == reasons_.end()) return {};
  const Reason& reason = at->second;
  std::vector<std::string> lines{first_line(reason)};
  if (reason.got.gpus == 0) add_waiting(reason, lines);
  if (reason.got.beside)
    lines.push_back("  it shares them with " + to_string(*reason.got.beside) +
                    ": both together are worth more there than what each of them loses by it");
  if (reason.aged > 0.005)
    lines.push_back(formatted("  for having waited it counts as if %.1f more were",
                              static_cast<double>(reason.jobs) * reason.aged));
  if (reason.got.beside) return lines;
  const bool all =
      reason.grant ? reason.got.gpus == reason.grant->gpus && reason.got.type == reason.grant->type
                   : reason.got.gpus == 0;
  if (!all) {
    lines.push_back(why_other(reason));
    return lines;
  }
  if (reason.grant && reason.grant->value > 0)
    lines.push_back(formatted("  each of its last GPUs is worth %.3g, %.2f times its speed in all",
                              reason.grant->value, reason.grant->speed));
  lines.push_back(reason.more ? next_step(reason)
                              : "  more GPUs would not make it faster, or not by as much as a "
                                "restart costs");
  return lines;
}

}  // namespace starling
