// SPDX-License-Identifier: Apache-2.0
// A curve that rounds otherwise than the published one differs in its second digit and looks like
// another policy.
#include "sim/published/openb/openb_curve.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace starling;

namespace {

PackEvent after(std::int64_t arrived_gpu_milli, std::int64_t allocated_gpu_milli) {
  PackEvent event;
  event.arrived_gpu_milli = arrived_gpu_milli;
  event.allocated_gpu_milli = allocated_gpu_milli;
  return event;
}

}  // namespace

TEST_CASE("a point is the mean of the pods that round to its percent, half to even") {
  // Of 100 GPUs: 1,000 thousandths are a percent, 10 a hundredth of one.
  const std::vector<PackEvent> events = {after(0, 0), after(500, 500), after(1500, 1234),
                                         after(2500, 1236), after(2501, 1245)};
  const auto curve = allocation_curve(events, 100'000, 4);
  REQUIRE(curve.size() == 4);
  CHECK(curve[0] == doctest::Approx(0.25));  // 0 and 0.50
  CHECK(std::isnan(curve[1]));
  CHECK(curve[2] == doctest::Approx(1.235));  // 1.23 and 1.24
  CHECK(curve[3] == doctest::Approx(1.24));   // 1.245 to even
  CHECK(allocation_curve(events, 100'000, 2).size() == 2);
}
