// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/live_report.h"

#include <doctest/doctest.h>

#include "launch/report/test_browser.h"

using namespace starling;
using namespace starling::chaos_live;

TEST_CASE("a browser draws the page of a live run" * needs_browser()) {
  const TestBrowser browser("chaos-page");
  LiveReport report;
  report.scenario.name = "kills</script>";
  report.faults_s = 20;
  report.recovered_s = 5;
  report.jobs.resize(3);
  std::string dom = browser.dom(report_page(report));
  CHECK(count_of(dom, "class=\"tools\"") == 2);
  CHECK(dom.find("<p>None.</p>") != std::string::npos);
  report.faults = {{2, 4, LiveFaultKind::kill, "agent 1", false}};
  RecoveryMeter::Case recovery;
  recovery.agent = 1, recovery.since = 2;
  recovery.answered = 0.5, recovery.accepted = 1, recovery.reconciled = 2;
  report.recoveries = {recovery};
  report.violations = {{3, "lost", "an accepted job has no end"}};
  dom = browser.dom(report_page(report));
  CHECK(dom.find("3 s, lost: an accepted job has no end") != std::string::npos);
}
