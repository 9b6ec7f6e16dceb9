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

TEST_CASE("a gang has the GPUs of the workers that are said, or those that it asks for") {
  JobSpec job;
  job.workers = 3;
  job.gpus_per_worker = 2;
  CHECK(gang_gpus(job, {}) == 6);
  CHECK(gang_gpus(job, {.workers = 5}) == 10);
  CHECK(gang_gpus(job, {.local_batch = 32}) == 6);
  CHECK(gpus_said(job, {.local_batch = 32}) == 0);
  CHECK(gpus_said(job, {.workers = Allocation::kMost}) == 2 * std::size_t{Allocation::kMost});
  CHECK(says_size_alone({.workers = 5}));
  CHECK(says_size_alone({}));
  CHECK_FALSE(says_size_alone({.workers = 5, .local_batch = 32}));
}

}  // namespace
}  // namespace starling
