// SPDX-License-Identifier: Apache-2.0
#include "sim/run/told_policy.h"

namespace starling {

std::vector<Decision> ToldPolicy::decide(const View& view, const Trigger& trigger, Rng& rng) {
  std::vector<Decision> decisions = inner_->decide(view, trigger, rng);
  std::set<JobId> named;
  for (const Decision& decision : decisions) {
    const JobId job = std::visit([](const auto& d) { return d.job; }, decision);
    if (named.insert(job).second) recorder_.why(view.now, job, inner_->explain(job));
  }
  for (const JobView& job : view.waiting) {
    const JobId id = job.spec->id;
    if (job.blocked || named.contains(id) || !waited_.insert(id).second) continue;
    std::vector<std::string> lines = inner_->explain(id);
    for (std::string& line : inner_->explain_now(view, job)) lines.push_back(std::move(line));
    recorder_.why(view.now, id, std::move(lines));
  }
  return decisions;
}

}  // namespace starling
