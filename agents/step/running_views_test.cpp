// SPDX-License-Identifier: Apache-2.0
#include "agents/step/running_views.h"

#include <doctest/doctest.h>

#include <memory>

namespace starling {
namespace {

using namespace std::chrono_literals;

PolicyFacts reads(bool by_end) {
  PolicyFacts facts;
  facts.needs_running = true;
  facts.by_end = by_end;
  return facts;
}

Job running(std::uint64_t number) {
  auto spec = std::make_shared<JobSpec>();
  spec->id = JobId{0, number};
  Job job;
  job.spec = std::move(spec);
  job.order = number;
  job.doing = Job::Run{};
  return job;
}

TEST_CASE("a policy that reads no running jobs pays for none") {
  RunningViews views{PolicyFacts{}};
  Job job = running(1);
  views.enter(job);
  CHECK_FALSE(views.are_read());
  CHECK_FALSE(views.any());
  CHECK(views.find(job) == nullptr);
  CHECK(views.kept() == 0);
}

TEST_CASE("running jobs stand in the order of their starts, with what they have been served") {
  RunningViews views{reads(false)};
  Job first = running(1), second = running(2), third = running(3);
  second.served = 10s;
  for (Job* job : {&first, &second, &third}) views.enter(*job);
  CHECK(views.find(second)->blocked);  // until it runs
  second.run()->started = Instant(4s);
  views.started(second);
  CHECK_FALSE(views.find(second)->blocked);
  views.leave(first);
  CHECK(views.find(first) == nullptr);
  CHECK(views.kept() == 3);
  const auto read = views.views(Instant(9s));
  REQUIRE(read.size() == 2);
  CHECK(read[0].order == 2);
  CHECK(read[0].served == 15s);
  CHECK(read[1].order == 3);
  CHECK(read[1].served == 0s);
  CHECK(views.kept() == 2);
  views.leave(second);
  views.leave(third);
  CHECK_FALSE(views.any());
  CHECK(views.ends() == nullptr);
}

TEST_CASE("a policy that reads by end has an index and no list") {
  RunningViews views{reads(true)};
  Job job = running(1);
  job.run()->started = Instant(1s);
  views.enter(job);
  REQUIRE(views.ends() != nullptr);
  CHECK(views.any());
  CHECK(views.views(Instant(2s)).empty());
  CHECK(views.ends()->find(JobId{0, 1}, Instant(3s))->served == 2s);
  views.leave(job);
  CHECK_FALSE(views.any());
}

}  // namespace
}  // namespace starling
