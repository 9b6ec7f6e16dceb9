// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/gpu_judge.h"

#include <doctest/doctest.h>

namespace starling {
namespace {

using namespace std::chrono_literals;

Instant at(Duration since) { return Instant{} + since; }

GpuSample well() {
  GpuSample sample;
  sample.utilisation = 50;
  sample.temperature_c = 60;
  sample.slowdown_c = 90;
  sample.uncorrected_ecc = 3;
  sample.throttled = 0;
  return sample;
}

const std::string& bad(const GpuJudge& judge, std::uint32_t gpu = 0) {
  return judge.verdicts().at(gpu).bad;
}

TEST_CASE("errors of the hardware stay, those of programs do not count") {
  GpuJudge judge{HealthOptions{}};
  judge.take(at(0s), 0, well());
  judge.take(XidEvent{0, 31});
  CHECK(bad(judge) == "");
  judge.take(XidEvent{0, 79});
  CHECK(bad(judge) == "XID 79");
  judge.take(at(1h), 0, well());
  judge.take(XidEvent{0, 48});
  CHECK(bad(judge) == "XID 79");
}

TEST_CASE("errors of memory count from when it was looked at first") {
  GpuJudge judge{HealthOptions{}};
  GpuSample sample = well();
  judge.take(at(0s), 0, sample);
  CHECK(bad(judge) == "");
  sample.uncorrected_ecc = 5;
  judge.take(at(1s), 0, sample);
  CHECK(bad(judge) == "2 uncorrectable errors of its memory");
  sample = well();
  sample.remap_failed = true;
  judge.take(at(1s), 1, sample);
  CHECK(bad(judge, 1) == "its memory has a broken row and no spare one");
}

TEST_CASE("a GPU that the driver has lost stays lost") {
  GpuJudge judge{HealthOptions{}};
  GpuSample sample = well();
  sample.lost = true;
  judge.take(at(0s), 0, sample);
  judge.take(at(1s), 0, well());
  CHECK(bad(judge) == "the driver has lost it");
}

TEST_CASE("a GPU that the driver does not hand out is bad from the third time on, until it does") {
  GpuJudge judge{HealthOptions{}};
  GpuSample sample;
  sample.unreachable = true;
  judge.take(at(0s), 0, well());
  judge.take(at(1s), 0, sample);
  judge.take(at(2s), 0, sample);
  CHECK(bad(judge) == "");
  judge.take(at(3s), 0, well());
  for (int i = 4; i < 7; ++i) judge.take(at(std::chrono::seconds(i)), 0, sample);
  CHECK(bad(judge) == "the driver cannot reach it");
  judge.take(at(7s), 0, well());
  CHECK(bad(judge) == "");
}

TEST_CASE("heat passes, with a distance between bad and well") {
  GpuJudge judge{HealthOptions{}};
  const auto degrees = [&](std::uint32_t c) {
    GpuSample sample = well();
    sample.temperature_c = c;
    judge.take(at(0s), 0, sample);
    return bad(judge);
  };
  CHECK(degrees(89) == "");
  CHECK(degrees(90) == "too hot: 90 C, 90 is the limit");
  CHECK(degrees(86) == "too hot: 90 C, 90 is the limit");
  CHECK(degrees(91) == "too hot: 90 C, 90 is the limit");
  CHECK(degrees(85) == "");
  CHECK(degrees(89) == "");
  HealthOptions options;
  options.temperature_c = 70;
  judge = GpuJudge(options);
  CHECK(degrees(71) == "too hot: 71 C, 70 is the limit");
}

TEST_CASE("clocks that are held back are told, and no reason not to use it") {
  GpuJudge judge{HealthOptions{}};
  GpuSample sample = well();
  sample.throttled = 0x4;  // a power cap
  judge.take(at(0s), 0, sample);
  CHECK(judge.verdicts().at(0).slow == "");
  sample.throttled = 0x40 | 0x8;
  judge.take(at(0s), 0, sample);
  CHECK(judge.verdicts().at(0).slow == "a hardware slowdown, heat (by hardware)");
  CHECK(bad(judge) == "");
}

TEST_CASE("a GPU rests since it was seen at work last; one that does not say never rests") {
  GpuJudge judge{HealthOptions{}};
  GpuSample idle = well();
  idle.utilisation = 0;
  judge.take(at(10s), 0, idle);
  CHECK(judge.verdicts().at(0).busy == at(10s));
  judge.take(at(20s), 0, idle);
  CHECK(judge.verdicts().at(0).busy == at(10s));
  judge.take(at(30s), 0, well());
  judge.take(at(40s), 0, idle);
  CHECK(judge.verdicts().at(0).busy == at(30s));
  idle.utilisation.reset();
  judge.take(at(50s), 0, idle);
  CHECK(judge.verdicts().at(0).busy == at(50s));
}

}  // namespace
}  // namespace starling
