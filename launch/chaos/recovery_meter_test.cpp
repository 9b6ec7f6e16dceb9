// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/recovery_meter.h"

#include <doctest/doctest.h>

using namespace starling;
using namespace starling::chaos_live;

namespace {

AgentStatus status(std::uint32_t agent, std::uint64_t epoch, std::uint32_t quarantined = 0) {
  AgentStatus s;
  s.agent = AgentId{agent};
  s.fence.epoch = Epoch{epoch};
  s.quarantined = quarantined;
  return s;
}
const JobId kProbe{1, 2};

}  // namespace

TEST_CASE("a takeover is measured to its answer, its first job, and its last GPU") {
  RecoveryMeter meter(2);
  meter.told(status(1, 5), 1, 10);
  meter.hit(1, LiveFaultKind::kill, 20, kProbe);
  meter.told(status(1, 5), 1, 20.05);  // was on its way
  CHECK(meter.open().front().answered < 0);
  meter.told(status(1, 6, 4), 0, 25.5);
  meter.accepted(kProbe, 25.6);
  CHECK(meter.cases().empty());
  meter.told(status(1, 6), 0, 26);
  REQUIRE(meter.cases().size() == 1);
  const auto& c = meter.cases().front();
  CHECK(c.takeover());
  CHECK(c.answered == doctest::Approx(5.5));
  CHECK(c.accepted == doctest::Approx(5.6));
  CHECK(c.reconciled == doctest::Approx(6));
  CHECK(!c.disturbed);
}

TEST_CASE("an agent that is woken before its lease lapsed was not away") {
  RecoveryMeter meter(2);
  meter.told(status(0, 5), 0, 10);
  meter.hit(0, LiveFaultKind::stop, 20, kProbe);
  meter.told(status(0, 5), 0, 22);
  CHECK(meter.open().empty());
  CHECK(meter.cases().empty());
}

TEST_CASE("what happens meanwhile is told apart") {
  RecoveryMeter meter(2);
  meter.hit(0, LiveFaultKind::kill, 20, kProbe);
  meter.disturb();
  meter.told(status(0, 1), 0, 21);
  meter.accepted(kProbe, 21);
  REQUIRE(meter.cases().size() == 1);
  CHECK(meter.cases().front().disturbed);
  CHECK(!meter.cases().front().takeover());
}
