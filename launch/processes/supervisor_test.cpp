// SPDX-License-Identifier: Apache-2.0
#include "launch/processes/supervisor.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "base/test_folder.h"
#include "launch/system/signals.h"

using namespace starling;

namespace {

std::vector<Supervisor::Ended> wait_for_end(Supervisor& supervisor) {
  for (int i = 0; i < 1000; ++i) {
    auto ended = supervisor.poll();
    if (!ended.empty()) return ended;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

pid_t pid_in(const std::filesystem::path& file) {
  pid_t pid = 0;
  for (int i = 0; i < 1000 && pid == 0; ++i) {
    std::ifstream(file) >> pid;
    if (pid == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return pid;
}

bool gone(pid_t pid) {
  for (int i = 0; i < 400; ++i) {
    if (kill(pid, 0) != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

TEST_CASE("a child that ends is reported once, with its status and last words") {
  const TestFolder folder("supervisor");
  Supervisor supervisor;
  REQUIRE(
      supervisor
          .start("child", {"/bin/sh", "-c", "echo one; echo two >&2; exit 7"}, folder.path / "log")
          .ok());
  const auto ended = wait_for_end(supervisor);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].status == 7);
  CHECK(describe(ended[0]) == "child ended with exit code 7; its last lines:\n  one\n  two");
  CHECK(supervisor.poll().empty());
  CHECK(supervisor.running() == 0);
}

TEST_CASE("a program that is not there is an error at once") {
  const TestFolder folder("supervisor");
  Supervisor supervisor;
  const auto started = supervisor.start("child", {"/no/such/program"}, folder.path / "log");
  REQUIRE_FALSE(started.ok());
  CHECK(started.error().message.find("/no/such/program") != std::string::npos);
}

TEST_CASE("a child: ends well once it is asked to stop" * doctest::skip()) {
  catch_stop_signals();
  for (int i = 0; i < 4000 && !stop_requested(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(stop_requested());
}

TEST_CASE("a child that is asked to stop before it listens ends well") {
  const TestFolder folder("supervisor");
  const std::vector<std::string> words{own_program(), "--no-skip",
                                       "-tc=a child: ends well once it is asked to stop"};
  for (int i = 0; i < 20; ++i) {
    Supervisor supervisor;
    REQUIRE(supervisor.start("child", words, folder.path / "log", {}, Supervisor::EarlyStop::waits)
                .ok());
    std::this_thread::sleep_for(std::chrono::microseconds(300 * i));
    kill(supervisor.pid_of("child"), SIGTERM);
    const auto ended = wait_for_end(supervisor);
    REQUIRE(ended.size() == 1);
    CAPTURE(describe(ended[0]));
    CHECK(ended[0].status == 0);
  }
}

TEST_CASE("any other program dies of a request to stop, whichever process starts it") {
  const TestFolder folder("supervisor");
  sigset_t stop, before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, &before);
  Supervisor supervisor;
  REQUIRE(supervisor.start("child", {"/bin/sleep", "20"}, folder.path / "log").ok());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  kill(supervisor.pid_of("child"), SIGTERM);
  const auto ended = wait_for_end(supervisor);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].status == -SIGTERM);
}

TEST_CASE("stopping reaches grandchildren and those that do not listen") {
  const TestFolder folder("supervisor");
  const std::string script = "trap '' TERM; sleep 600 & echo $! > " +
                             (folder.path / "pid").string() + "; while :; do sleep 1; done";
  pid_t grandchild = 0;
  {
    Supervisor supervisor;
    REQUIRE(supervisor.start("stubborn", {"/bin/sh", "-c", script}, folder.path / "log").ok());
    grandchild = pid_in(folder.path / "pid");
    REQUIRE(grandchild > 0);
    supervisor.stop_all(std::chrono::milliseconds(100));
    CHECK(supervisor.running() == 0);
  }
  CHECK(gone(grandchild));
}
