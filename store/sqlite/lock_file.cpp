// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

namespace starling {
namespace {

using std::chrono::milliseconds;
// A process that was forked and has not become its program yet has all files of its parent.
constexpr milliseconds kLetGo{5000}, kPause{10};

/// What its holder has written into it.
std::string holder_of(int fd) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size() - 1, 0);
  std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid;
}

bool is_gone(const std::string& pid) {
  const long number = std::atol(pid.c_str());
  return number > 1 && ::kill(static_cast<pid_t>(number), 0) != 0 && errno == ESRCH;
}

}  // namespace

Result<LockFile> LockFile::acquire(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return {Errc::io, "cannot open '" + path.string() + "': " + std::strerror(errno)};
  LockFile lock(fd);
  const auto until = std::chrono::steady_clock::now() + kLetGo;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return {Errc::io, "cannot lock '" + path.string() + "': " + std::strerror(errno)};
    }
    const std::string pid = holder_of(fd);
    if (!is_gone(pid) || std::chrono::steady_clock::now() > until) {
      return {Errc::conflict, "'" + path.string() + "' is locked by process " +
                                  (pid.empty() ? "(unknown)" : pid) +
                                  ": stop it, or use another state folder"};
    }
    std::this_thread::sleep_for(kPause);
  }
  // The pid is for people; a disk too full to hold it does not make the lock less good.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0) errno = 0;
  return lock;
}

LockFile::~LockFile() {
  if (fd_ >= 0) ::close(fd_);
}
LockFile::LockFile(LockFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
LockFile& LockFile::operator=(LockFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

}  // namespace starling
