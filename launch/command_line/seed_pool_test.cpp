// SPDX-License-Identifier: Apache-2.0
#include "launch/command_line/seed_pool.h"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <map>
#include <thread>
#include <vector>

namespace starling {
namespace {

TEST_CASE("every seed is told once: what it gave, or how its process ended") {
  std::map<std::uint64_t, std::string> told;
  SeedPool pool;
  pool.processes = 2;
  pool.work = [](std::uint64_t seed) {
    if (seed == 3) ::raise(SIGKILL);
    return "of " + std::to_string(seed);
  };
  pool.done = [&](std::uint64_t seed, const std::string& text, double) { told[seed] += text; };
  pool.died = [&](std::uint64_t seed, const std::string& how, double) { told[seed] += how; };
  REQUIRE(pool.run(1, 5).ok());
  const std::map<std::uint64_t, std::string> expected{
      {1, "of 1"}, {2, "of 2"}, {3, "ended by Killed"}, {4, "of 4"}, {5, "of 5"}};
  CHECK(told == expected);
}

TEST_CASE("of a seed that takes long there is word meanwhile") {
  struct Word {
    std::uint64_t seed;
    double wall_s;
  };
  std::vector<Word> words;
  SeedPool pool;
  pool.work = [](std::uint64_t seed) {
    if (seed == 7) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    return std::string();
  };
  pool.done = [](std::uint64_t, const std::string&, double) {};
  pool.died = [](std::uint64_t, const std::string&, double) {};
  pool.waits = [&](std::uint64_t seed, double wall_s) { words.push_back({seed, wall_s}); };
  REQUIRE(pool.run(6, 2).ok());
  REQUIRE(words.size() >= 1);
  CHECK(words.front().seed == 7);
  CHECK(words.front().wall_s > 0.5);
}

}  // namespace
}  // namespace starling
