// SPDX-License-Identifier: Apache-2.0
#include "policies/pollux/job_goodput.h"

#include <doctest/doctest.h>

using namespace starling;

namespace {

JobGoodput example() {
  JobGoodput job;
  job.time.sample_s = 0.01;
  job.time.server = {0.1, 0.0};
  job.time.rack = {0.5, 0.0};
  job.time.network = {2.0, 0.0};
  job.limits = {32, 1024, 8, 128};
  job.phi = 400;
  job.rack = 4;
  return job;
}

}  // namespace

TEST_CASE("goodput is throughput times efficiency, by the best of the batches tried") {
  const JobGoodput job = example();
  const BatchChoice best = job.at(1, 4);
  CHECK(best.goodput == doctest::Approx(job.with(1, 4, best.split)));
  const double batch = best.split.local_batch * 4 * (best.split.accumulation + 1);
  const double step = 0.01 * best.split.local_batch * (best.split.accumulation + 1) + 0.1;
  CHECK(best.goodput == doctest::Approx(batch / step * (400 + 32) / (400 + batch)));
  for (const double local : {8.0, 16.0, 64.0, 128.0})
    CHECK(best.goodput >= job.with(1, 4, {local, 0}) * 0.995);
}

TEST_CASE("more servers and racks cost, and a batch has an end") {
  const JobGoodput job = example();
  CHECK(job.at(2, 4).goodput < job.at(1, 4).goodput);
  CHECK(job.at(5, 8).goodput < job.at(4, 8).goodput);
  CHECK(job.most_gpus() == 128);
  CHECK(job.at(16, 129).goodput == 0);
}

TEST_CASE("a fixed batch is the same on every GPU, and makes less progress the more there are") {
  JobGoodput job = example();
  job.own_local = 32;
  CHECK(job.at(1, 4).split == BatchSplit{32, 0});
  CHECK(job.at(1, 4).goodput == doctest::Approx(128 / (0.32 + 0.1) * (400 + 32) / (400 + 128)));
  job.phi = 0;  // not measured: every sample makes as much
  CHECK(job.at(1, 4).goodput == doctest::Approx(128 / (0.32 + 0.1)));
}

TEST_CASE("fair shares are rounded up, and never nothing") {
  CHECK(fair_replicas(64, 1, 10) == 7);
  CHECK(fair_replicas(64, 1, 64) == 1);
  CHECK(fair_replicas(64, 1, 65) == 1);
  CHECK(fair_replicas(64, 4, 3) == 6);
}
