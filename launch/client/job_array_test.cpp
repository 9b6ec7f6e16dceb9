// SPDX-License-Identifier: Apache-2.0
#include "launch/client/job_array.h"

#include <doctest/doctest.h>

#include <set>

namespace starling {
namespace {

TEST_CASE("tasks of an array have ids of their own, the same each time, with the array's home") {
  constexpr std::uint32_t kAgents = 3;
  std::set<JobId> seen;
  for (const JobId id : {JobId{9, 17}, JobId{9, ~0ULL}, JobId{0, 123'456}, JobId{0, 123'459}}) {
    CAPTURE(to_string(id));
    JobSpec array;
    array.id = id;
    array.array_tasks = {0, 1, 5, 9'999'999};
    const std::vector<JobSpec> tasks = expand_array(array, kAgents);
    REQUIRE(tasks.size() == 4);
    for (const JobSpec& task : tasks) {
      CHECK(task.id.lo % kAgents == id.lo % kAgents);
      CHECK(seen.insert(task.id).second);
      CHECK(task.id != id);
      CHECK(task.terms.array == id);
      CHECK(task.terms.tasks == 4);
      CHECK(task.terms.last_task == 9'999'999);
      CHECK(task.array_tasks.empty());
    }
    CHECK(tasks[2].terms.task == 5);
    CHECK(expand_array(array, kAgents)[3].id == tasks[3].id);
  }
}

}  // namespace
}  // namespace starling
