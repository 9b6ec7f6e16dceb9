// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace starling {

Result<LockFile> LockFile::acquire(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return {Errc::io, "cannot open '" + path.string() + "': " + std::strerror(errno)};
  LockFile lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return {Errc::io, "cannot lock '" + path.string() + "': " + std::strerror(errno)};
    }
    std::array<char, 32> holder{};
    const ssize_t size = ::pread(fd, holder.data(), holder.size() - 1, 0);
    std::string pid(holder.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    while (!pid.empty() && pid.back() == '\n') pid.pop_back();
    return {Errc::conflict, "'" + path.string() + "' is locked by process " +
                                (pid.empty() ? "(unknown)" : pid) +
                                ": stop it, or use another state folder"};
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
