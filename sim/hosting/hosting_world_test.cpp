// SPDX-License-Identifier: Apache-2.0
#include "sim/hosting/hosting_world.h"

#include <doctest/doctest.h>

#include <chrono>

namespace starling {
namespace {

TEST_CASE("twenty seeds of who serves what with state in etcd") {
  std::uint64_t takeovers = 0;
  std::map<std::string, std::uint64_t> faults;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const HostingRun run = HostingWorld(seed).run();
    CAPTURE(seed);
    CHECK_MESSAGE(run.rule.empty(), run.rule << " " << run.wrong);
    takeovers += run.takeovers;
    for (const auto& [kind, count] : run.faults) faults[kind] += count;
  }
  CHECK(takeovers > 300);
  CHECK(faults.size() == 10);
}

TEST_CASE("a seed of takeovers does the same twice") {
  const HostingRun a = HostingWorld(7).run(), b = HostingWorld(7).run();
  CHECK(a.trace_hash == b.trace_hash);
  CHECK(a.writes == b.writes);
}

}  // namespace
}  // namespace starling
