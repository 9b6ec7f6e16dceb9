// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/gpu_speeds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/rng.h"
#include "base/test_data.h"
#include "topology/placement.h"
#include "topology/topology.h"
#include "workload/text/csv.h"
#include "workload/text/text_file.h"

namespace starling {
namespace {

TEST_CASE("single GPUs: what was measured is believed, and no more than is possible") {
  GpuSpeeds speeds;
  CHECK(speeds.empty());
  const Placement slow = {GpuId{3}}, wild = {GpuId{4}};
  for (int i = 0; i < 20; ++i) speeds.observe(slow, std::log(0.7));
  CHECK(std::exp(speeds.slowest(slow)) == doctest::Approx(0.7).epsilon(0.01));
  CHECK(speeds.slowest(std::vector{GpuId{2}}) == 0);
  for (int i = 0; i < 20; ++i) speeds.observe(wild, std::log(3.0));
  CHECK(speeds.slowest(wild) == 0);
  speeds.observe(wild, std::log(1e-9));
  CHECK(std::exp(speeds.slowest(wild)) > 0.5);  // once is not believed
  for (int i = 0; i < 1000; ++i) speeds.observe(wild, std::log(1e-9));
  CHECK(std::exp(speeds.slowest(wild)) == doctest::Approx(Server::kSlowestGpu));
}

TEST_CASE("of gangs the slow one is found, for the others are cleared by gangs without it") {
  GpuSpeeds speeds;
  const Placement all = {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
  for (int i = 0; i < 30; ++i) {
    speeds.observe(all, std::log(0.6));
    speeds.observe(std::vector{GpuId{0}, GpuId{1}}, 0);
    speeds.observe(std::vector{GpuId{1}, GpuId{2}}, 0);
  }
  CHECK(std::exp(speeds.slowest(std::vector{GpuId{0}, GpuId{1}, GpuId{2}})) > 0.95);
  CHECK(std::exp(speeds.slowest(std::vector{GpuId{3}})) == doctest::Approx(0.6).epsilon(0.03));
}

TEST_CASE("noise alone makes no GPU slow") {
  GpuSpeeds speeds;
  Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    const Placement pair = {GpuId{rng.below(4)}, GpuId{4 + rng.below(4)}};
    speeds.observe(pair, 0.03 * rng.normal());
    CHECK(speeds.slowest(pair) == 0);
  }
}

TEST_CASE("a GPU that is mended is believed to be, in time") {
  GpuSpeeds speeds;
  const Placement one = {GpuId{0}};
  for (int i = 0; i < 50; ++i) speeds.observe(one, std::log(0.5));
  for (int i = 0; i < 50; ++i) speeds.observe(one, 0);
  CHECK(std::exp(speeds.slowest(one)) > 0.97);
}

TEST_CASE("what was learned outlives the process, and other bytes are refused") {
  GpuSpeeds speeds;
  for (int i = 0; i < 9; ++i) speeds.observe(std::vector{GpuId{1}, GpuId{5}}, std::log(0.8));
  const std::vector<std::byte> state = speeds.state();
  GpuSpeeds again;
  REQUIRE(again.restore(state, 8).ok());
  CHECK(again.state() == state);
  CHECK(again.slowest(std::vector{GpuId{5}}) == speeds.slowest(std::vector{GpuId{5}}));
  CHECK_FALSE(again.restore(state, 5).ok());
  for (std::size_t size = 0; size < state.size(); ++size)
    CHECK_FALSE(again.restore(std::span(state).first(size), 8).ok());
  for (std::size_t at = 0; at < state.size(); ++at) {
    std::vector<std::byte> altered = state;
    altered[at] ^= std::byte{1};
    CHECK_FALSE(again.restore(altered, 8).ok());
  }
  CHECK(again.state() == state);
}

TEST_CASE("PAL's 32 GPUs are told apart by the gangs of one to four that run on them" *
          doctest::test_suite("published data")) {
  const auto file = test_data("pal/variability_32gpu.csv");
  if (!file) return;
  const std::string text = read_text_file(*file).value();
  CsvReader csv(text);
  std::vector<std::string_view> row;
  REQUIRE(csv.next(row));
  std::vector<double> truth;  // 1/slowdown of ResNet-50's class, in that of the fastest
  while (csv.next(row)) {
    double slowdown = 0;
    REQUIRE(parse_number(row[3], slowdown));
    truth.push_back(1 / slowdown);
  }
  REQUIRE(truth.size() == 32);
  const double fastest = *std::ranges::max_element(truth);
  for (double& speed : truth) speed /= fastest;
  GpuSpeeds speeds;
  Rng rng(7);
  for (int i = 0; i < 1500; ++i) {
    const std::uint32_t gpus = 1U << rng.below(3);
    const std::uint32_t first = rng.below(32 / gpus) * gpus;
    Placement gang;
    double speed = 1;
    for (std::uint32_t g = first; g < first + gpus; ++g) {
      gang.emplace_back(g);
      speed = std::min(speed, truth[g]);
    }
    speeds.observe(gang, std::log(speed) + 0.02 * (rng.uniform() - 0.5));
  }
  double error = 0, nominal = 0;
  for (std::uint32_t g = 0; g < 32; ++g) {
    error += std::abs(std::exp(speeds.slowest(std::vector{GpuId{g}})) - truth[g]) / 32;
    nominal += std::abs(1 - truth[g]) / 32;
  }
  MESSAGE("mean error of a speed: " << error << ", taken for alike " << nominal);
  CHECK(error < nominal / 2);
}

}  // namespace
}  // namespace starling
