// SPDX-License-Identifier: Apache-2.0
// Overload is answered at once and grows nothing; clients come again, never in step and never for
// ever.
#include <doctest/doctest.h>

#include <set>

#include "agents/explain/describe.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a hundred times too many submissions: each is answered in its own step") {
  FlockOptions options;
  options.agents = 2;
  options.lossy = true;
  options.limits.jobs_waiting = 50;
  TestFlock flock(options);
  flock.run_for(1s);
  (void)flock.take_transcript();
  for (std::uint64_t n = 1; n <= 5000; ++n) {
    JobSpec spec;
    spec.id = JobId{0, n};
    spec.workers = n % 100 == 0 ? 999 : 1;
    spec.duration = 5s;
    flock.ask(static_cast<std::uint32_t>(n % 2), Submit{std::move(spec), {}});
  }
  flock.run_for(1ms);
  std::size_t accepted = 0, busy = 0, refused = 0;
  for (const std::string& line : flock.take_transcript()) {
    if (line.find("-> client 1") == line.npos) continue;  // others are told of jobs given away
    accepted += line.find("  Accepted") != line.npos ? 1 : 0;
    busy += line.find("  Busy") != line.npos ? 1 : 0;
    refused += line.find("  Rejected") != line.npos ? 1 : 0;
  }
  CHECK(accepted + busy + refused == 5000);
  CHECK(refused == 50);
  CHECK(busy > 4000);
  for (std::uint32_t a = 0; a < 2; ++a) {
    CHECK(flock.agent(a).home.waiting_jobs() + flock.agent(a).home.running_jobs <= 50);
    CHECK(flock.agent(a).home.jobs.size() <= 100);
    CHECK(over_limits(flock.agent(a)).value_or("") == "");
  }
}

TEST_CASE("a client whose agent is gone comes again at uneven times, and gives up within an hour") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
  flock.crash_agent(1);
  for (std::uint64_t n = 1; n <= 20; ++n) flock.submit(n, 1, 5s, 1);
  flock.run_for(50min);
  CHECK_FALSE(flock.client().all_over());
  (void)flock.take_transcript();
  flock.run_for(1min);
  std::set<std::string> instants;
  std::size_t submits = 0;
  for (const std::string& line : flock.take_transcript()) {
    if (line.find("  Submit") == line.npos) continue;
    ++submits;
    instants.insert(line.substr(0, 9));
  }
  CHECK(submits > 200);
  CHECK(submits < 600);
  CHECK(instants.size() > submits / 2);
  flock.run_for(10min);
  CHECK(flock.client().all_over());
  CHECK(flock.client().counts().rejected == 20);
}

}  // namespace
}  // namespace starling
