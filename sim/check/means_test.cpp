// SPDX-License-Identifier: Apache-2.0
#include "sim/check/means.h"

#include <doctest/doctest.h>

#include "topology/generate/generate.h"

namespace starling {
namespace {

// Servers of 8 GPUs with 64 CPUs and 512 GiB.
TEST_CASE("S17: processes on a server need more CPUs or memory than it has") {
  const Topology topology = generate_flat({.servers = 2}).value();
  const Demand most{8'000'000, 64'000'000};
  std::vector<ProcessView> processes = {
      {{{0, 1}, Epoch{1}, 1}, {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}}, most},
      {{{0, 2}, Epoch{1}, 1}, {GpuId{4}, GpuId{5}, GpuId{6}, GpuId{7}, GpuId{8}}, most},
      {{{0, 3}, Epoch{1}, 1}, {GpuId{9}}}};
  CHECK(overdrawn(topology, processes).empty());
  processes.push_back({{{0, 4}, Epoch{1}, 1}, {GpuId{10}}, {0, 448'000'001}});
  CHECK(overdrawn(topology, processes).find(" GiB, and it has 512") != std::string::npos);
  processes.back().each = {56'000'001, 0};
  CHECK(overdrawn(topology, processes).find(" CPUs, and it has 64") != std::string::npos);
  Checker checker({}, 1);
  checker.overdrawn(Instant{}, overdrawn(topology, processes));
  REQUIRE(checker.violation());
  CHECK(checker.violation()->find("S17 is violated") == 0);
}

}  // namespace
}  // namespace starling
