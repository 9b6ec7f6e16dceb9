// SPDX-License-Identifier: Apache-2.0
#include "workload/job_number.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

TEST_CASE("a job's number is its id, and the other way round") {
  for (const JobId id : {JobId{0, 1}, JobId{0, 123'456'789'012}, JobId{1, 0}, JobId{~0ULL, ~0ULL}})
    CHECK(job_of_number(job_number(id)) == id);
  CHECK(job_number(JobId{0, 42}) == "42");
  CHECK(job_number(JobId{~0ULL, ~0ULL}) == "340282366920938463463374607431768211455");
  CHECK_FALSE(job_of_number("340282366920938463463374607431768211456").has_value());
  for (const char* text : {"", "-1", "12a", " 1"}) CHECK_FALSE(job_of_number(text).has_value());
}

}  // namespace
}  // namespace starling
