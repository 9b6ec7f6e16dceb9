// SPDX-License-Identifier: Apache-2.0
// One workload of Pollux' simulator; `starling reproduce pollux` runs all of them.
#include <doctest/doctest.h>

#include <numeric>

#include "base/test_data.h"
#include "sim/published/inputs.h"
#include "sim/published/pollux/pollux_there.h"
#include "sim/published/pollux/schedulers.h"

using namespace starling;

namespace {

std::vector<std::int64_t> theirs(const std::filesystem::path& data, const char* run) {
  const auto read = published_json(data, "conformance/pollux_shared_data.json");
  REQUIRE(read.ok());
  return read.value()["runs"][run]["jct_s"]["workload-1"].get<std::vector<std::int64_t>>();
}

}  // namespace

TEST_CASE("every job of Tiresias and Optimus ends in the published second" *
          doctest::test_suite("published data")) {
  const auto file = test_data("conformance/pollux_shared_data.json");
  if (!file) return;
  const std::filesystem::path data = file->parent_path().parent_path();
  const auto applications = read_pollux_applications(data);
  REQUIRE(applications.ok());
  const auto jobs =
      read_pollux_workload(data / "pollux/workloads_0.5/workload-1.csv", applications.value());
  REQUIRE(jobs.ok());
  const PolluxCluster cluster;
  TiresiasThere tiresias(cluster);
  CHECK(run_pollux_cluster(cluster, jobs.value(), tiresias) == theirs(data, "tiresias load 0.5"));
  OptimusThere optimus(cluster);
  CHECK(run_pollux_cluster(cluster, jobs.value(), optimus) == theirs(data, "optimus load 0.5"));
}
