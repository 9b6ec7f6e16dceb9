// SPDX-License-Identifier: Apache-2.0
#include "launch/system/signals.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <thread>

using namespace starling;

TEST_CASE("a daemon that is kept by something ends all the same once it was told to") {
  for (const unsigned patience : {0U, 1U}) {
    CAPTURE(patience);
    const pid_t daemon = ::fork();
    if (daemon == 0) {
      ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
      catch_stop_signals();
      if (patience > 0) end_within(patience);
      ::raise(SIGTERM);
      for (int i = 0; i < 4; ++i) ::sleep(1);  // each of them may be interrupted
      ::_exit(stop_requested() ? 7 : 8);
    }
    int status = 0;
    REQUIRE(::waitpid(daemon, &status, 0) == daemon);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == (patience > 0 ? 1 : 7));
  }
}

TEST_CASE("one thread is asked to stop, and no other") {
  std::atomic<bool> stop{false};
  {
    const StopBy mine(stop);
    CHECK_FALSE(stop_requested());
    stop = true;
    CHECK(stop_requested());
    bool other = true;
    std::thread([&] { other = stop_requested(); }).join();
    CHECK_FALSE(other);
  }
  CHECK_FALSE(stop_requested());
}
