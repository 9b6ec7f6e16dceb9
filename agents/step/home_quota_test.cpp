// SPDX-License-Identifier: Apache-2.0
#include "agents/step/home_quota.h"

#include <doctest/doctest.h>

#include <memory>

namespace starling {
namespace {

Job elastic_job() {
  JobSpec spec;
  spec.id = JobId{0, 1};
  spec.queue = "lab";
  spec.workers = 4, spec.gpus_per_worker = 2;
  spec.min_workers = 1, spec.max_workers = 16;
  Job job;
  job.spec = std::make_shared<const JobSpec>(spec);
  return job;
}

QueueTree lab_of(std::uint32_t most) {
  QueueTree tree;
  tree.version = 1;
  tree.queues.resize(1);
  tree.queues[0].name = "lab";
  tree.queues[0].most = most;
  return tree;
}

TEST_CASE("a job that waits is shown to policies as large as its queue lets it be") {
  HomeQuota quota(Incarnation{1}, true);
  Job job = elastic_job();
  CHECK(quota.shown(job) == job.spec.get());  // there are no queues
  SUBCASE("no larger than it asks to be") {
    quota.portions.set_tree(lab_of(100));
    CHECK(quota.shown(job)->workers == 4);
    CHECK(quota.shown(job)->max_workers == 4);
    CHECK(quota.shown(job)->min_workers == 1);
  }
  SUBCASE("nor than there may be of its queue") {
    quota.portions.set_tree(lab_of(5));
    CHECK(quota.shown(job)->workers == 2);
    CHECK(quota.shown(job)->max_workers == 2);
    CHECK(quota.shown(job)->gpus_per_worker == 2);
  }
}

}  // namespace
}  // namespace starling
