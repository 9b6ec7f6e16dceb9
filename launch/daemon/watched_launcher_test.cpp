// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/watched_launcher.h"

#include <doctest/doctest.h>

#include <fstream>
#include <utility>

#include "launch/deployment/health_file.h"
#include "launch/deployment/local_flock.h"

namespace starling {
namespace {

struct Nothing final : Launcher {
  Status start(const LaunchSpec&) override { return done(); }
  void stop(AttemptId, Duration) override {}
  void renew(AttemptId, Instant) override {}
  void signal(AttemptId, std::uint32_t number) override { signalled = number; }
  std::vector<Exit> reap() override { return {}; }
  std::uint32_t signalled = 0;
};
/// Whose news are put there by hand.
struct Telling final : Launcher {
  Status start(const LaunchSpec&) override { return done(); }
  void stop(AttemptId, Duration) override {}
  void renew(AttemptId, Instant) override {}
  std::vector<Exit> reap() override { return {}; }
  std::optional<SickGpus> health_news() override { return std::exchange(news, std::nullopt); }
  std::optional<SickGpus> news;
};
struct HandClock final : Clock {
  [[nodiscard]] Instant now() const noexcept override { return at; }
  Instant at{};
};

TEST_CASE("a health file names bad GPUs, or where it is wrong") {
  CHECK(parse_health("", {8, 16}).value().empty());
  CHECK(parse_health("# ecc\n12 # xid 48\n8 12\n", {8, 16}).value() ==
        Placement{GpuId{8}, GpuId{12}});
  CHECK(parse_health("8\n7\n", {8, 16}).error().message ==
        "line 2: '7' is no GPU of this executor, which has 8 to 15");
  CHECK_FALSE(parse_health("9x", {8, 16}).ok());
  CHECK_FALSE(parse_health("-9", {8, 16}).ok());
}

TEST_CASE("signals reach the launcher that is watched") {
  Nothing inner;
  HandClock clock;
  WatchedLauncher launcher(inner, "health", {0, 4}, clock);
  launcher.signal({}, 10);
  CHECK(inner.signalled == 10);
}

TEST_CASE("news of the health file come once, and late by half a second at most") {
  const auto dir = temporary_dir();
  REQUIRE(dir.ok());
  const auto file = dir.value() / "health";
  const auto write = [&](const char* text) { std::ofstream(file) << text; };
  Nothing inner;
  HandClock clock;
  WatchedLauncher launcher(inner, file, {0, 4}, clock);
  const auto look = [&] {
    clock.at += std::chrono::milliseconds(500);
    return launcher.health_news();
  };
  CHECK_FALSE(look());
  write("2\n");
  CHECK_FALSE(launcher.health_news());  // not yet
  CHECK(look() == SickGpus{{GpuId{2}}});
  CHECK_FALSE(look());
  write("what?\n");
  CHECK_FALSE(look());
  write("2 # again\n");
  CHECK_FALSE(look());
  std::filesystem::remove(file);
  CHECK(look() == SickGpus{});
  std::filesystem::remove_all(dir.value());
}

TEST_CASE("what the file says and what starts jobs says hold together") {
  const auto dir = temporary_dir();
  REQUIRE(dir.ok());
  const auto file = dir.value() / "health";
  Telling inner;
  HandClock clock;
  WatchedLauncher launcher(inner, file, {0, 4}, clock);
  std::ofstream(file) << "2\n";
  inner.news = SickGpus{{GpuId{0}}, {GpuId{3}}};
  clock.at += std::chrono::seconds(1);
  CHECK(launcher.health_news() == SickGpus{{GpuId{0}, GpuId{2}}, {GpuId{3}}});
  CHECK_FALSE(launcher.health_news());
  inner.news = SickGpus{};
  CHECK(launcher.health_news() == SickGpus{{GpuId{2}}});
  std::filesystem::remove_all(dir.value());
}

}  // namespace
}  // namespace starling
