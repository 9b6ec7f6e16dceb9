// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/expectations.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::chaos_live;

namespace {

FaultRecord fault(LiveFaultKind kind, bool skipped = false) {
  FaultRecord record;
  record.kind = kind;
  record.skipped = skipped;
  return record;
}

}  // namespace

TEST_CASE("what was expected and did not happen is said, and nothing else") {
  LiveReport report;
  CHECK(unmet({}, report).empty());
  report.faults = {fault(LiveFaultKind::kill), fault(LiveFaultKind::kill, true),
                   fault(LiveFaultKind::stop)};
  report.takeovers = 1;
  report.rss_mib = 100;
  report.throughput_before = 10;
  report.throughput_after = 8;
  Expectations e;
  e.faults = 2;
  e.kills = 1;
  e.takeovers = 1;
  e.rss_mib = 100;
  e.throughput = 0.8;
  CHECK(unmet(e, report).empty());
  e.faults = 3;
  e.kills = 2;
  e.takeovers = 2;
  e.rss_mib = 99;
  e.throughput = 0.9;
  const auto all = unmet(e, report);
  REQUIRE(all.size() == 5);
  CHECK(all[1] == "only 1 kills happened; expected 2");
}

TEST_CASE("excused answers do not count as late") {
  LiveReport report;
  report.answers = {{0, 0.5, false}, {1, 9, true}};
  Expectations e;
  e.answered_within = 2;
  CHECK(unmet(e, report).empty());
  report.answers.push_back({2, 2.5, false});
  const auto all = unmet(e, report);
  REQUIRE(all.size() == 1);
  CHECK(all[0] == "a submit was answered after 2.50 s; expected 2.00 s at most");
  e.answered_within = 0.001;
  CHECK(unmet(e, report)[0] == "a submit was answered after 2.50 s; expected 1.00 ms at most");
}
