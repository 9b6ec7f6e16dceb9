// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/run_timeline.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

JobRow row(double submit, double start, double finish, const std::string& placement) {
  JobRow job;
  job.submit_s = submit, job.start_s = start, job.finish_s = finish, job.placement = placement;
  return job;
}

std::string text(const std::vector<JobRow>& jobs) {
  std::string out;
  for (const TimePoint& p : timeline_of(jobs))
    out += std::to_string(static_cast<int>(p.at_s)) + ":" + std::to_string(p.busy_gpus) + "/" +
           std::to_string(p.waiting) + " ";
  return out;
}

TEST_CASE("a GPU that two jobs share is in use once") {
  CHECK(text({row(0, 1, 10, "0-3"), row(2, 4, 12, "2-5")}) ==
        "0:0/1 1:4/0 2:4/1 4:6/0 10:4/0 12:0/0 ");
  CHECK(text({row(0, 1, 10, "0"), row(0, 10, 20, "0")}) == "0:0/2 1:1/1 10:1/0 20:0/0 ");
}

TEST_CASE("a job that has not ended is at work, one that never started waits until it is over") {
  CHECK(text({row(0, 1, -1, "0,3")}) == "0:0/1 1:2/0 ");
  CHECK(text({row(0, -1, 5, "")}) == "0:0/1 5:0/0 ");
}

}  // namespace
}  // namespace starling
