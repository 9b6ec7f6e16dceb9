// SPDX-License-Identifier: Apache-2.0
#include "policies/queues/queue_place.h"

#include <algorithm>
#include <cmath>

#include "scheduling/queue_order.h"

namespace starling {
namespace {

constexpr const char* kNoLength = "does not say how long it takes";

}  // namespace

std::string whole_seconds(double s) { return std::to_string(std::llround(s)) + " s"; }

std::string length_text(const JobView& job) {
  if (job.spec->duration <= Duration{0}) return kNoLength;
  return "takes " + whole_seconds(seconds(job.spec->duration)) + " by its estimate";
}

std::string length_left_text(const JobView& job) {
  if (job.spec->duration <= Duration{0}) return kNoLength;
  const Duration left = std::max(job.spec->duration - job.served, Duration{0});
  return "has " + whole_seconds(seconds(left)) + " left by its estimate";
}

std::string place_in_queue(const Policy& policy, const View& view, const JobView& job,
                           std::string_view by, const SaysOfJob& says) {
  std::size_t before = 0;
  const JobView* ahead = nullptr;
  bool prioritised = false;
  for (const JobView& other : view.waiting) {
    prioritised = prioritised || other.spec->priority != 0;
    if (other.order == job.order || !asks_first(policy, other, job, view.now)) continue;
    ++before;
    if (ahead == nullptr || asks_first(policy, *ahead, other, view.now)) ahead = &other;
  }
  std::string line = "policy: number " + std::to_string(before + 1) + " of " +
                     std::to_string(view.waiting.size()) + " that wait, by " +
                     (prioritised ? "priority, then " : "") + std::string(by);
  if (says) line += ": it " + says(job);
  if (ahead == nullptr) return line;
  line += (says ? "; " : ", ") + std::string("right behind job ") + to_string(ahead->spec->id);
  if (ahead->spec->priority > job.spec->priority)
    return line + ", whose priority is " + std::to_string(ahead->spec->priority);
  return says ? line + ", which " + says(*ahead) : line;
}

}  // namespace starling
