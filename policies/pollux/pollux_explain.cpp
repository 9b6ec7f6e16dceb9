// SPDX-License-Identifier: Apache-2.0
// What PolluxPolicy says of a round.
#include <cstdio>

#include "base/counted.h"
#include "policies/pollux/pollux.h"

namespace starling {

void PolluxPolicy::tell(const View& view, std::span<const Member> members,
                        const SharingProblem& problem, const SharePlan& found) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    const auto row = found.of(i);
    Told told;
    told.at = view.now;
    told.servers = static_cast<std::uint32_t>(row.size());
    told.gpus = replicas_of(row) * problem.jobs[i].gpus_per_replica;
    told.fair = member.fair * problem.jobs[i].gpus_per_replica;
    told.jobs = static_cast<std::uint32_t>(members.size());
    told.restart_factor = problem.jobs[i].restart_factor;
    told.known = member.goodput.known;
    if (told.gpus > 0) {
      told.speedup = problem.speedup(i, told.servers, replicas_of(row));
      if (told.known) told.split = member.goodput.curve.at(told.servers, told.gpus).split;
    }
    told_[member.job->spec->id] = told;
  }
}

std::vector<std::string> PolluxPolicy::explain(JobId job) const {
  const auto found = told_.find(job);
  if (found == told_.end()) return {};
  const Told& told = found->second;
  char text[160];
  std::snprintf(text, sizeof text, "policy: at %.0f s ", seconds(told.at.time_since_epoch()));
  std::string line = text;
  const std::string fair = "its fair share of " + counted(told.fair, "GPU") + " (" +
                           counted(told.jobs, "job") + " want some)";
  if (told.gpus == 0) {
    std::snprintf(text, sizeof text, "; a start counts %.2f of its speedup", told.restart_factor);
    return {line + "it was left to wait, for the harmonic mean of all speedups is higher so",
            "  against " + fair + text};
  }
  std::snprintf(text, sizeof text, "it was given %s on %s: goodput %.2f times that of ",
                counted(told.gpus, "GPU").c_str(), counted(told.servers, "server").c_str(),
                told.speedup);
  line += text + fair;
  if (!told.known)
    return {line, "  nothing was measured of it yet: every GPU is believed to bring as much"};
  std::snprintf(text, sizeof text, "  by batches of %.0f a GPU, %s; another restart counts %.2f",
                told.split.local_batch,
                counted(told.split.accumulation, "further gradient").c_str(), told.restart_factor);
  return {line, text};
}

}  // namespace starling
