// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/lock_file.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "base/test_folder.h"

namespace starling {
namespace {

/// A process that takes the lock, forks one that has it for `lingers_ms` longer, and ends or stays.
pid_t holder(const std::filesystem::path& file, unsigned lingers_ms, bool stays) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = LockFile::acquire(file);
    if (!lock) ::_exit(1);
    if (::fork() == 0) {
      ::usleep(lingers_ms * 1000);
      ::_exit(0);
    }
    if (::write(ready[1], "r", 1) != 1) ::_exit(1);
    if (stays) ::pause();
    ::_exit(0);
  }
  char byte = 0;
  CHECK(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}

TEST_CASE("a lock that only a fork of its dead holder still has comes free") {
  const TestFolder folder("lock");
  const pid_t dead = holder(folder.path / "in-use", 300, false);
  REQUIRE(::waitpid(dead, nullptr, 0) == dead);
  CHECK(LockFile::acquire(folder.path / "in-use").ok());
}

TEST_CASE("a lock whose holder lives is refused at once, with its holder's name") {
  const TestFolder folder("lock");
  const pid_t alive = holder(folder.path / "in-use", 0, true);
  const auto refused = LockFile::acquire(folder.path / "in-use");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::conflict);
  CHECK(refused.error().message.find("locked by process " + std::to_string(alive)) !=
        std::string::npos);
  ::kill(alive, SIGKILL);
  ::waitpid(alive, nullptr, 0);
  CHECK(LockFile::acquire(folder.path / "in-use").ok());
}

}  // namespace
}  // namespace starling
