// SPDX-License-Identifier: Apache-2.0
#include "agents/explain/explain_queue.h"

#include <algorithm>

#include "agents/explain/explain_silence.h"
#include "base/counted.h"
#include "scheduling/queue_order.h"

namespace starling {
namespace {

std::string of_priority(const JobView& job) {
  return "priority " + std::to_string(job.spec->priority);
}

}  // namespace

std::string explain_priority(AgentState& s, const Job& job) {
  const auto waiting = s.home.waiting.views();
  const bool said = std::any_of(waiting.begin(), waiting.end(),
                                [](const JobView& v) { return v.spec->priority != 0; });
  return said ? ", priority " + std::to_string(job.spec->priority) : "";
}

std::string explain_ahead(AgentState& s, const Job& job) {
  const auto waiting = s.home.waiting.views();
  const JobView* self = s.home.waiting.find(job.order);
  if (self == nullptr) return {};
  std::uint64_t urgent = 0, equal = 0;
  const JobView* first = nullptr;
  for (const JobView& other : waiting) {
    if (other.order == job.order || !asks_first(*s.policy, other, *self, s.now)) continue;
    ++(other.spec->priority > job.spec->priority ? urgent : equal);
    if (first == nullptr || asks_first(*s.policy, other, *first, s.now)) first = &other;
  }
  if (first == nullptr) return {};
  std::string line = "policy " + std::string(s.policy->facts().name) + ": " +
                     counted(urgent + equal, "job") + " before it";
  if (urgent > 0 && equal > 0) {
    line += ", " + std::to_string(urgent) + " of higher priority and " + std::to_string(equal) +
            " of the same";
  } else if (urgent > 0) {
    line += ", of higher priority";
  }
  line += "; the first, " + to_string(first->spec->id) + ", needs " +
          counted(first->spec->gpus(), "GPU");
  return urgent > 0 ? line + " and has " + of_priority(*first) : line;
}

std::string explain_claim(const AgentState& s, JobId id) {
  if (!s.owner.claim || s.owner.claim->until <= s.now || s.owner.claim->attempt.job == id)
    return {};
  const AttemptId attempt = s.owner.claim->attempt;
  std::string line = "partition " + std::to_string(s.owner.partition.id.value) + " keeps " +
                     counted(s.owner.claim->kept.servers().size(), "server") + " for " +
                     to_string(attempt.job) + ", whose turn it is";
  // The claim of another home does not say when the turn is over.
  const auto job = s.home.jobs.find(attempt.job);
  if (job != s.home.jobs.end() && job->second.has(attempt) && job->second.round() != nullptr)
    line += ", for " + seconds_text(job->second.round()->deadline - s.now) + " more at most";
  return line;
}

}  // namespace starling
