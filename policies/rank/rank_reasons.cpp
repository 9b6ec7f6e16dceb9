// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/rank_reasons.h"

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
    reasons_[jobs[i].job] = {view.now,
                             jobs.size(),
                             answer.rank[i],
                             problem.jobs[i].aged,
                             problem.jobs[i].left_s,
                             jobs[i],
                             answer.grants[i],
                             more,
                             more ? answer.price[more->type] : 0,
                             more && answer.held[more->type] && !problem.jobs[i].stoppable};
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

std::vector<std::string> RankReasons::explain(JobId job) const {
  const auto at = reasons_.find(job);
  if (at == reasons_.end()) return {};
  const Reason& reason = at->second;
  const double longer = reason.rank - static_cast<double>(reason.jobs) * reason.aged;
  std::vector<std::string> lines{
      formatted("policy: at %.0f s ", seconds(reason.at.time_since_epoch())) +
      (reason.jobs == 1
           ? std::string("no other job shared what there was with it")
           : formatted("%.0f of the %zu jobs that shared what there was, itself one of them, were "
                       "at least as long as it",
                       longer, reason.jobs)) +
      formatted("; %.0f s of it were expected to be left, and it got ", reason.left_s) +
      (reason.got.gpus > 0 ? gpus_of(reason.got.gpus, reason.got.type) : "none")};
  if (reason.got.had > 0 && reason.got.gpus == 0)
    lines.push_back("  it was stopped: what it had is worth more to others");
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
