// SPDX-License-Identifier: Apache-2.0
#include "launch/client/job_array.h"

#include <limits>
#include <utility>

namespace starling {

std::vector<JobSpec> expand_array(const JobSpec& array, std::uint32_t agents) {
  std::vector<JobSpec> tasks;
  tasks.reserve(array.array_tasks.size());
  // Steps of `agents` keep the home. Where the low half is full they begin anew below.
  const std::uint64_t step = agents;
  const std::uint64_t room = step * (std::uint64_t{JobTerms::kMostTask} + 2);
  std::uint64_t high = array.id.hi, low = array.id.lo;
  // A short id is a number among many; its tasks are far from all of these.
  if (high == 0) high = std::exchange(low, low % step);
  if (low > std::numeric_limits<std::uint64_t>::max() - room) low %= step;
  for (const std::uint32_t task : array.array_tasks) {
    JobSpec one = array;
    one.array_tasks.clear();
    one.id.hi = high;
    one.id.lo = low + step * (std::uint64_t{task} + 1);
    one.terms.array = array.id;
    one.terms.task = task;
    one.terms.tasks = static_cast<std::uint32_t>(array.array_tasks.size());
    one.terms.first_task = array.array_tasks.front();
    one.terms.last_task = array.array_tasks.back();
    tasks.push_back(std::move(one));
  }
  return tasks;
}

}  // namespace starling
