// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/life_lock.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/test_folder.h"

using namespace starling;

namespace {

constexpr uid_t kOther = 65534;

/// A process that has inherited the lock, of this user or of another one, until it is killed.
pid_t start_holder(uid_t user) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);  // not the test program's
    ::alarm(60);
    if (user != ::geteuid() && ::setresuid(user, user, user) != 0) ::_exit(1);
    if (::write(ready[1], "", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char byte = 0;
  ::close(ready[1]);
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  return child;
}

int end_of(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

}  // namespace

TEST_CASE("a part is over once none of its processes has the lock, and those are killed") {
  const TestFolder folder("life");
  CHECK(kill_life_holders(folder.path, ::geteuid()));  // nothing was started there
  const Result<int> lock = lock_life(folder.path);
  REQUIRE(lock.ok());
  const pid_t holder = start_holder(::geteuid());
  ::close(lock.value());
  CHECK_FALSE(lock_life(folder.path).ok());
  CHECK_FALSE(kill_life_holders(folder.path, ::geteuid()));
  CHECK(end_of(holder) == SIGKILL);
  CHECK(kill_life_holders(folder.path, ::geteuid()));
}

TEST_CASE("another user's process that was handed the lock is spared, and holds the part") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can be another user");
    return;
  }
  const TestFolder folder("life");
  const Result<int> lock = lock_life(folder.path);
  REQUIRE(lock.ok());
  const pid_t stranger = start_holder(kOther);
  ::close(lock.value());
  CHECK_FALSE(kill_life_holders(folder.path, 0));
  CHECK_FALSE(kill_life_holders(folder.path, 0));
  ::kill(stranger, SIGTERM);
  CHECK(end_of(stranger) == SIGTERM);
  CHECK(kill_life_holders(folder.path, 0));
}
