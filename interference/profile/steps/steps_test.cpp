// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "interference/profile/steps/exchange.h"
#include "interference/profile/steps/holder.h"
#include "interference/profile/steps/training_step.h"

namespace starling {
namespace {

TEST_CASE("two ranks end with the mean of their gradients, at the speed of the link") {
  auto ends = loopback_exchange(100'000'000);
  REQUIRE(ends.ok());
  std::vector<float> mine(1 << 20, 1), theirs(1 << 20, 3);
  const auto began = std::chrono::steady_clock::now();
  std::thread other([&] { CHECK(ends.value().second.average(theirs)); });
  CHECK(ends.value().first.average(mine));
  other.join();
  CHECK(mine == std::vector<float>(1 << 20, 2));
  CHECK(theirs == mine);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  CHECK(took.count() >
        0.02);  // 4 MiB at 100 MB/s are 0.042 s; pacing lets the first bytes go at once
}

TEST_CASE("a rank whose peer is gone is told so") {
  auto ends = loopback_exchange(100'000'000);
  REQUIRE(ends.ok());
  { const Exchange gone(std::move(ends.value().second)); }
  std::vector<float> mine(1 << 20, 1);
  CHECK_FALSE(ends.value().first.average(mine));
}

TEST_CASE("every workload makes steps") {
  for (const WorkloadKind& kind : workload_kinds()) {
    if (kind.name == "network") continue;
    CAPTURE(kind.name);
    auto step = make_step({{std::string(kind.name), kind.small}, false, 1, nullptr});
    REQUIRE(step.ok());
    CHECK(step.value()->run());
    CHECK(step.value()->run());
  }
}

TEST_CASE("ranks of the network workload wait for each other") {
  auto ends = loopback_exchange(1'000'000'000);
  REQUIRE(ends.ok());
  std::thread other([&] {
    auto step = make_step({{"network", 4}, false, 2, &ends.value().second});
    for (int i = 0; i < 3; ++i) CHECK(step.value()->run());
    const Exchange gone(std::move(ends.value().second));
  });
  auto step = make_step({{"network", 4}, false, 1, &ends.value().first});
  for (int i = 0; i < 3; ++i) CHECK(step.value()->run());
  other.join();
  CHECK_FALSE(step.value()->run());
}

TEST_CASE("a holder spins for as long as it is told, and then no more") {
  Holder holder;
  const auto now = std::chrono::steady_clock::now();
  CHECK(holder.cpu_ns() < 50'000'000);
  holder.hold_until(now + std::chrono::milliseconds(300));
  std::this_thread::sleep_until(now + std::chrono::milliseconds(400));
  const std::uint64_t spun = holder.cpu_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(holder.cpu_ns() - spun < 5'000'000);
  CHECK(spun < 350'000'000);
  holder.hold_until(std::chrono::steady_clock::now() + std::chrono::hours(1));  // ends with it
  holder.hold_until(std::chrono::steady_clock::now());
}

TEST_CASE("without a GPU a workload on one is refused, and says what to do") {
  if (torch_sees_gpu()) return;
  const auto step = make_step({{"dense", 32}, true, 1, nullptr});
  REQUIRE_FALSE(step.ok());
  CHECK(step.error().code == Errc::unsupported);
  CHECK(step.error().message.find("--device cpu") != std::string::npos);
}

}  // namespace
}  // namespace starling
