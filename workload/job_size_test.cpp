// SPDX-License-Identifier: Apache-2.0
#include "workload/job_size.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

TEST_CASE("the sizes that a job may have: as asked, within its bounds, or in averaged copies") {
  JobSpec job;
  job.workers = 2;
  job.gpus_per_worker = 2;
  const Allocation copies{0, 0, 0, 0, true};
  CHECK(may_have_size(job, 4, {}));
  CHECK_FALSE(may_have_size(job, 8, copies));
  job.run.copies = true;
  CHECK(may_have_size(job, 8, copies));
  CHECK_FALSE(may_have_size(job, 8, {}));
  CHECK_FALSE(may_have_size(job, 7, copies));
  CHECK_FALSE(may_have_size(job, 0, copies));
  job.min_workers = 1, job.max_workers = 3;
  CHECK(may_have_size(job, 6, {}));
  CHECK_FALSE(may_have_size(job, 8, {}));
}

}  // namespace
}  // namespace starling
