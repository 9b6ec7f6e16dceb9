// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/step_meter.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/test_folder.h"

using namespace starling;
using std::chrono::seconds;

namespace {

/// A command that does so many steps a second from `from` on, looked at every half second.
double after(StepMeter& meter, Instant& now, double& steps, double rate, int for_s,
             std::uint64_t neighbours, double alone = 0) {
  double speed = 0;
  for (int i = 0; i < 2 * for_s; ++i) {
    now += std::chrono::milliseconds(500);
    steps += rate / 2;
    speed = meter.look(now, {steps, alone, 0}, neighbours);
  }
  return speed;
}

}  // namespace

TEST_CASE("a command is measured against what it did alone") {
  StepMeter meter;
  Instant now{};
  double steps = 0;
  CHECK(after(meter, now, steps, 20, 5, 0) == 0);  // too short to tell
  CHECK(after(meter, now, steps, 20, 30, 0) == doctest::Approx(1));
  CHECK(after(meter, now, steps, 12, 5, 7) == 0);  // another came
  CHECK(after(meter, now, steps, 12, 30, 7) == doctest::Approx(0.6));
  CHECK(after(meter, now, steps, 16, 30, 8) == doctest::Approx(0.8));
}

TEST_CASE("a job that was never alone, and does not say how fast that is, is not measured") {
  StepMeter meter, told;
  Instant now{};
  double steps = 0;
  CHECK(after(meter, now, steps, 12, 60, 7) == 0);
  CHECK(after(told, now, steps, 12, 60, 7, 24) == doctest::Approx(0.5));
}

TEST_CASE("slow steps take longer windows, and a count that falls begins anew") {
  StepMeter meter;
  Instant now{};
  double steps = 0;
  CHECK(after(meter, now, steps, 0.5, 18, 0) == 0);
  CHECK(after(meter, now, steps, 0.5, 6, 0) == doctest::Approx(1).epsilon(0.1));
  steps = 0;
  CHECK(after(meter, now, steps, 0.5, 5, 0) == 0);
}

TEST_CASE("what a command writes is read with care") {
  const TestFolder folder("steps");
  const auto file = folder.path / "steps";
  CHECK(!read_steps(file));
  const auto read = [&](const char* text) {
    std::ofstream(file) << text;
    return read_steps(file);
  };
  CHECK(read("120\n")->steps == 120);
  CHECK(read("120\n")->alone == 0);
  CHECK(read("120.5 3.5")->alone == 3.5);
  CHECK(read("7 fast")->alone == 0);
  CHECK(read("120.5 3.5")->noise == 0);
  CHECK(read("120.5 3.5 812.5\n")->noise == 812.5);
  CHECK(read("120 0 64")->noise == 64);
  CHECK(read("120 3 -1")->noise == 0);
  for (const char* wrong : {"", "many", "-3", "nan", "inf", "1e300"}) {
    CAPTURE(wrong);
    CHECK(!read(wrong));
  }
}
