// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/run_locks.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/test_folder.h"
#include "launch/experiment/results.h"
#include "launch/experiment/run_record.h"
#include "launch/experiment/test_grid.h"

using namespace starling;

namespace {

const std::string kRun = "0123456789abcdef";

GridOptions shared() {
  GridOptions options;
  options.share = true;
  return options;
}

std::size_t locks_in(const std::filesystem::path& dir) {
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir))
    n += entry.path().extension() == ".json" ? 0 : 1;
  return n;
}

}  // namespace

TEST_CASE("a run is one process's at a time") {
  const TestFolder folder("locks");
  RunLocks ours(folder.path);
  {
    RunLocks theirs(folder.path);
    CHECK(theirs.take(kRun).value());
    CHECK_FALSE(theirs.take(kRun).value());
    CHECK_FALSE(ours.take(kRun).value());
    CHECK(ours.holder(kRun).find("(process " + std::to_string(getpid()) + ")") !=
          std::string::npos);
    theirs.release(kRun);
    CHECK(ours.take(kRun).value());
    CHECK_FALSE(theirs.take(kRun).value());
    theirs.release(kRun);  // is not its own
    CHECK_FALSE(theirs.take(kRun).value());
  }
  CHECK(ours.holder(kRun) != "");
  ours.release(kRun);
  CHECK(locks_in(folder.path) == 0);
}

TEST_CASE("a process of this host that is gone holds nothing") {
  const TestFolder folder("dead");
  const pid_t child = fork();
  if (child == 0) {
    RunLocks theirs(folder.path);
    static_cast<void>(theirs.take(kRun));
    _exit(0);  // without any farewell
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(locks_in(folder.path) == 1);
  RunLocks ours(folder.path);
  CHECK(ours.take(kRun).value());
}

TEST_CASE("another host's lock counts for as long as it is touched") {
  const TestFolder folder("stale");
  const auto lock = folder.path / (kRun + ".lock");
  std::ofstream(lock) << "elsewhere some-boot/pid:[1] 12 345\n";
  RunLocks ours(folder.path, std::chrono::milliseconds(400));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  int touched = 0;
  while (std::chrono::steady_clock::now() < until) {
    std::filesystem::last_write_time(
        lock, std::filesystem::file_time_type::clock::now() + std::chrono::hours(++touched));
    CHECK_FALSE(ours.take(kRun).value());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  CHECK(ours.holder(kRun) == "elsewhere (process 12)");
  std::this_thread::sleep_for(std::chrono::milliseconds(450));
  CHECK(ours.take(kRun).value());
}

TEST_CASE("a lock without a word, as a host leaves it that lost its power, goes in time") {
  const TestFolder folder("empty");
  std::ofstream(folder.path / (kRun + ".lock")).close();
  RunLocks ours(folder.path, std::chrono::milliseconds(100));
  CHECK_FALSE(ours.take(kRun).value());
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  CHECK(ours.take(kRun).value());
  ours.release(kRun);
  CHECK(locks_in(folder.path) == 0);
}

TEST_CASE("what another has taken over since is not removed with one's own") {
  const TestFolder folder("slept");
  const auto lock = folder.path / (kRun + ".lock");
  {
    RunLocks ours(folder.path);
    REQUIRE(ours.take(kRun).value());
    std::filesystem::remove(lock);
    std::ofstream(lock) << "elsewhere some-boot/pid:[1] 12 345\n";
  }
  CHECK(std::filesystem::exists(lock));
}

TEST_CASE("of several that write a file first one is told so, and its text stays") {
  const TestFolder folder("first");
  const auto file = folder.path / "f";
  CHECK(write_first(file, "one").value());
  CHECK_FALSE(write_first(file, "two").value());
  CHECK(std::filesystem::file_size(file) == 3);
  CHECK(locks_in(folder.path) == 1);
  CHECK_FALSE(write_first(folder.path / "none" / "f", "x").ok());
}

TEST_CASE("a shared folder has runs of one program") {
  const TestFolder folder("programs");
  TestGrid grid;
  GridOptions older = shared();
  older.program = "0.1.0";
  REQUIRE(grid.run(folder.path, older).ok());
  const auto newer = grid.run(folder.path, shared());
  REQUIRE_FALSE(newer.ok());
  CHECK(newer.error().code == Errc::conflict);
  CHECK(grid.run(folder.path, older).value().skipped == 12);
}

TEST_CASE("processes that share a folder do each run once, and all have all results") {
  const TestFolder folder("share");
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    TestGrid grid;
    grid.pause = std::chrono::milliseconds(20);
    const auto outcome = grid.run(folder.path, shared());
    const bool all = outcome.ok() && read_results(folder.path).value().missing == 0;
    std::ofstream(folder.path / ("ran." + std::to_string(i))) << (all ? grid.calls.load() : -100);
    _exit(0);
  }
  int calls = 0;
  for (int i = 0; i < 3; ++i) {
    int status = 0, ran = -100;
    waitpid(children[static_cast<std::size_t>(i)], &status, 0);
    std::ifstream(folder.path / ("ran." + std::to_string(i))) >> ran;
    CHECK(ran >= 0);
    calls += ran;
  }
  CHECK(calls == 12);
  CHECK(locks_in(folder.path / "runs") == 0);
}

TEST_CASE("what a process had under way when it was killed is taken again by another") {
  const TestFolder folder("killed");
  const pid_t child = fork();
  if (child == 0) {
    TestGrid grid;
    grid.pause = std::chrono::hours(1);
    static_cast<void>(grid.run(folder.path, shared()));
    _exit(0);
  }
  for (int i = 0; i < 1000; ++i) {
    std::error_code none;
    if (std::filesystem::exists(folder.path / "runs", none) && locks_in(folder.path / "runs") >= 3)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(locks_in(folder.path / "runs") >= 3);
  TestGrid grid;
  const auto outcome = grid.run(folder.path, shared());
  REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
  CHECK(outcome.value().ran == 12);
  CHECK(locks_in(folder.path / "runs") == 0);
  CHECK(grid.run(folder.path, shared()).value().skipped == 12);
}
