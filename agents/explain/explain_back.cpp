// SPDX-License-Identifier: Apache-2.0
#include "agents/explain/explain_back.h"

#include "agents/explain/explain_silence.h"
#include "agents/step/home_step.h"
#include "base/counted.h"

namespace starling {
namespace {

/// What this home knows of a job that another one waits for.
std::string where_it_is(const AgentState& s, const JobId& id) {
  if (const auto here = s.home.jobs.find(id); here != s.home.jobs.end())
    return std::string("is ") + name_of(phase_of(here->second.stage())) + " at this agent";
  const auto other = s.home.others.find(id);
  if (other == s.home.others.end()) return "is not known yet";
  if (other->second.end) return std::string("has ended: ") + name_of(*other->second.end);
  if (other->second.home)
    return "has not ended at agent " + std::to_string(other->second.home->value);
  return "no agent that answers knows; all are asked again and again";
}

}  // namespace

std::vector<std::string> explain_back(const AgentState& s, const Job& job) {
  const JobTerms& terms = job.spec->terms;
  const std::string begins = "is kept at agent " + std::to_string(s.config.me.value) + ": ";
  std::vector<std::string> lines;
  switch (job.back()) {
    case JobReason::held:
      lines.push_back(begins + "it is held; 'starling release " + to_string(job.spec->id) +
                      "' lets it go");
      break;
    case JobReason::begin:
      lines.push_back(begins + "its time comes in " + seconds_text(begins_at(job) - s.now));
      break;
    case JobReason::retry:
      lines.push_back(begins + "it has failed, and is tried again in " +
                      seconds_text(job.not_before - s.now));
      break;
    case JobReason::array_limit:
      lines.push_back(begins + "only " + counted(terms.at_once, "task") +
                      " of its array may run at once");
      break;
    case JobReason::dependency:
      for (std::size_t i = 0; i < terms.after.size(); ++i) {
        if ((job.met >> i & 1U) != 0) continue;
        const After& after = terms.after[i];
        lines.push_back(begins + "it is to start after " + name_of(after.how) + " of " +
                        to_string(after.job) + ", which " + where_it_is(s, after.job));
      }
      break;
    default:
      break;
  }
  return lines;
}

}  // namespace starling
