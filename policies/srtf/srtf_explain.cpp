// SPDX-License-Identifier: Apache-2.0
#include "policies/srtf/srtf_explain.h"

#include "base/counted.h"
#include "base/short_number.h"
#include "policies/parts/evict.h"
#include "policies/queues/queue_place.h"
#include "scheduling/running_index.h"

namespace starling {
namespace {

std::string left_text(std::int64_t left) { return whole_seconds(seconds(Duration(left))); }

/// What runs here, by whether it may be stopped.
struct Runners {
  std::size_t victims = 0, equals = 0, stopping = 0;
  std::uint64_t victims_gpus = 0, stopping_gpus = 0;
  const JobView* first = nullptr;    // of the victims
  const JobView* longest = nullptr;  // of those of its priority
};

Runners look_at(const SrtfRule::Preemptor& who, const View& view, const std::set<JobId>& stopping) {
  Runners found;
  const auto longer = [](const JobView& a, const JobView* b) {
    return b == nullptr || SrtfRule::left(a) > SrtfRule::left(*b);
  };
  const auto look = [&](const JobView& job) {
    if (!lies_here(view.gpus, job.placement)) return;
    if (stopping.contains(job.spec->id)) {
      ++found.stopping;
      found.stopping_gpus += job.placement.size();
      return;
    }
    if (job.blocked) return;
    const std::int32_t priority = job.spec->priority;
    if (priority == who.priority) {
      ++found.equals;
      if (longer(job, found.longest)) found.longest = &job;
    }
    if (!SrtfRule::may_stop(who, priority, SrtfRule::left(job))) return;
    ++found.victims;
    found.victims_gpus += job.placement.size();
    if (found.first == nullptr || priority < found.first->spec->priority ||
        (priority == found.first->spec->priority && longer(job, found.first)))
      found.first = &job;
  };
  if (view.ends == nullptr) {
    for (const JobView& job : view.running) look(job);
  } else {
    view.ends->each(view.now, look);
  }
  return found;
}

std::string stops_text(const SrtfRule& rule, const SrtfRule::Preemptor& who, const View& view,
                       const JobView& job, const Runners& found) {
  if (found.victims > 0) {
    const std::uint64_t have = view.gpus.free_count() + found.stopping_gpus + found.victims_gpus;
    std::string line = "  it may stop " + counted(found.victims, "job") + ", first job " +
                       to_string(found.first->spec->id) + ", which " +
                       (found.first->spec->priority < who.priority
                            ? "has priority " + std::to_string(found.first->spec->priority)
                            : length_left_text(*found.first));
    if (have >= job.spec->gpus()) return line + ", if there is a place for it then";
    return line + "; with theirs it would have " + std::to_string(have) + " GPUs of " +
           std::to_string(job.spec->gpus());
  }
  if (found.equals == 0) return "  it stops no job: none here may be stopped for it";
  if (who.left == SrtfRule::kUnknown)
    return "  it stops no job of its priority, for it does not say how long it takes";
  return "  it stops no job: one with " + left_text(who.least) + " left, " +
         short_number(1 + rule.margin) + " times its own, would do; job " +
         to_string(found.longest->spec->id) + " " + length_left_text(*found.longest);
}

}  // namespace

std::vector<std::string> explain_srtf(const SrtfRule& rule, const View& view, const JobView& job,
                                      const std::set<JobId>& stopping) {
  const std::int64_t left = SrtfRule::left(job);
  if (!job.placement.empty()) {
    if (stopping.contains(job.spec->id)) return {"policy: it was told to stop for a shorter job"};
    if (left == SrtfRule::kUnknown)
      return {"policy: it " + length_left_text(job) + ": any that says so may stop it"};
    const double most = static_cast<double>(left) / (1 + rule.margin);
    return {"policy: it " + length_left_text(job) + "; a job that waits and has at most " +
            left_text(static_cast<std::int64_t>(most)) + " left may stop it"};
  }
  const SrtfRule::Preemptor who = rule.preemptor(job.spec->priority, left);
  const Runners found = look_at(who, view, stopping);
  std::vector<std::string> lines{stops_text(rule, who, view, job, found)};
  if (found.stopping > 0)
    lines.push_back("  " + counted(found.stopping, "job was", "jobs were") +
                    " told to stop and still run" + (found.stopping == 1 ? "s" : ""));
  return lines;
}

}  // namespace starling
