// SPDX-License-Identifier: Apache-2.0
#include "agents/agent/recall.h"

#include <algorithm>
#include <set>

#include "agents/explain/explain_ended.h"

namespace starling {

std::map<JobId, JobState> jobs_in(std::span<const Record> chunk) {
  std::map<JobId, JobState> jobs;
  for (const Record& record : chunk) {
    if (const auto* ended = std::get_if<JobEnded>(&record)) jobs[ended->job] = ended->state;
  }
  return jobs;
}

void fill_in(Output& out,
             const std::function<const std::map<JobId, JobState>*(std::uint64_t)>& read) {
  // By chunk, so that each is read once.
  std::sort(out.recall.begin(), out.recall.end(),
            [](const Recall& a, const Recall& b) { return a.chunk < b.chunk; });
  std::map<JobId, JobState> found;
  std::set<JobId> missing;
  for (const Recall& recall : out.recall) {
    const std::map<JobId, JobState>* jobs = read(recall.chunk);
    const bool there = jobs != nullptr && jobs->contains(recall.job);
    there ? void(found.emplace(recall.job, jobs->at(recall.job)))
          : void(missing.insert(recall.job));
  }
  const auto fill = [&](JobState& state) {
    const auto at = found.find(state.job);
    if (state.phase == JobPhase::unknown && at != found.end()) state = at->second;
    return state.phase != JobPhase::unknown || !missing.contains(state.job);
  };
  std::erase_if(out.send, [&](Send& send) {
    if (auto* state = std::get_if<JobState>(&send.message)) return !fill(*state);
    if (auto* list = std::get_if<JobList>(&send.message)) {
      for (JobState& state : list->jobs) fill(state);
      return false;
    }
    auto* explanation = std::get_if<Explanation>(&send.message);
    if (explanation == nullptr || !explanation->lines.empty()) return false;
    const auto at = found.find(explanation->job);
    if (at != found.end()) explanation->lines = explain_ended(at->second);
    return explanation->lines.empty();
  });
}

}  // namespace starling
