// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "agents/executor/executor.h"

namespace starling {

/// A Launcher and the means to try it.
struct LauncherRig {
  Launcher& launcher;
  std::function<LaunchSpec(std::uint64_t job, std::uint32_t server)>
      brief;  ///< ends by itself, code 0
  std::function<LaunchSpec(std::uint64_t job, std::uint32_t server)>
      endless;                   ///< until it is stopped
  std::function<void()> wait;    ///< lets time pass until next_deadline()
  std::function<Instant()> now;  ///< as the launcher reads time
};

/// Collects `count` exits, then looks whether another follows.
inline std::vector<Exit> exits_of(LauncherRig& rig, std::size_t count) {
  std::vector<Exit> all;
  for (int cycles = 0; cycles < 10'000 && all.size() < count; ++cycles) {
    for (Exit& exit : rig.launcher.reap()) all.push_back(std::move(exit));
    if (all.size() < count) rig.wait();
  }
  for (int cycles = 0; cycles < 3; ++cycles) {
    for (Exit& exit : rig.launcher.reap()) all.push_back(std::move(exit));
    if (rig.launcher.next_deadline() < kNever) rig.wait();
  }
  return all;
}

/// What every Launcher must do. Leaves nothing running.
inline void launcher_battery(LauncherRig rig) {
  Launcher& launcher = rig.launcher;
  const Duration grace = std::chrono::milliseconds(200);
  CHECK(launcher.next_deadline() == kNever);
  CHECK(launcher.reap().empty());

  INFO("stopping what is not known changes nothing");
  launcher.stop(rig.brief(1, 0).attempt, grace);
  CHECK(launcher.reap().empty());

  INFO("a brief job ends once, with its code and its service; a repeated start changes nothing");
  const LaunchSpec brief = rig.brief(2, 0);
  REQUIRE(launcher.start(brief).ok());
  CHECK(launcher.start(brief).ok());
  CHECK(launcher.next_deadline() < kNever);
  std::vector<Exit> ended = exits_of(rig, 1);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].attempt == brief.attempt);
  CHECK(ended[0].server == brief.server);
  CHECK(ended[0].exit.code == 0);
  CHECK_FALSE(ended[0].exit.lost);
  CHECK(ended[0].served > Duration::zero());
  CHECK(launcher.next_deadline() == kNever);

  INFO("two parts of one attempt: a stop ends both, each is told once, others go on");
  const LaunchSpec first = rig.endless(3, 0);
  const LaunchSpec second = rig.endless(3, 1);
  const LaunchSpec other = rig.endless(4, 0);
  REQUIRE(launcher.start(first).ok());
  REQUIRE(launcher.start(second).ok());
  REQUIRE(launcher.start(other).ok());
  CHECK(launcher.measure().size() == 2);
  launcher.stop(first.attempt, grace);
  launcher.stop(first.attempt, grace);
  ended = exits_of(rig, 2);
  REQUIRE(ended.size() == 2);
  CHECK(ended[0].server != ended[1].server);
  for (const Exit& exit : ended) {
    CHECK(exit.attempt == first.attempt);
    CHECK(exit.exit.code < 0);
  }
  CHECK(launcher.measure().size() == 1);
  launcher.stop(other.attempt, Duration{0});
  ended = exits_of(rig, 1);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].attempt == other.attempt);
  CHECK(launcher.next_deadline() == kNever);

  INFO("what is not renewed ends at its deadline, as lost; what is renewed goes on");
  LaunchSpec left = rig.endless(6, 0);
  LaunchSpec wanted = rig.endless(7, 1);
  left.until = wanted.until = later(rig.now(), std::chrono::milliseconds(300));
  left.grace = wanted.grace = grace;
  REQUIRE(launcher.start(left).ok());
  REQUIRE(launcher.start(wanted).ok());
  launcher.renew(wanted.attempt, kNever);
  launcher.renew(rig.brief(1, 0).attempt, kNever);
  ended = exits_of(rig, 1);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].attempt == left.attempt);
  CHECK(ended[0].exit.lost);
  CHECK(rig.now() >= left.until);
  launcher.renew(wanted.attempt, rig.now());
  ended = exits_of(rig, 1);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].attempt == wanted.attempt);
  CHECK(ended[0].exit.lost);
  CHECK(launcher.next_deadline() == kNever);

  INFO("what an earlier life started is reported lost, once");
  const std::vector<LaunchSpec> earlier = {rig.endless(5, 0), rig.endless(5, 1)};
  launcher.adopt(earlier);
  CHECK(launcher.next_deadline() < kNever);
  ended = exits_of(rig, 2);
  REQUIRE(ended.size() == 2);
  for (const Exit& exit : ended) CHECK(exit.exit.lost);
  CHECK(launcher.next_deadline() == kNever);
}

}  // namespace starling
