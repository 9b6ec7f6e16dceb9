// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/gpu_locks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace starling {

GpuLocks::~GpuLocks() {
  for (const int fd : held_) ::close(fd);
}

Status GpuLocks::take(const std::vector<std::string>& files, std::uint64_t slots) {
  GpuLocks taken;
  for (const std::string& file : files) {
    bool found = false;
    for (std::uint64_t slot = 0; slot < slots && !found; ++slot) {
      const std::string name = file + "." + std::to_string(slot);
      const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
      if (fd < 0) return {Errc::io, "cannot lock '" + name + "': " + std::strerror(errno)};
      found = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
      found ? taken.held_.push_back(fd) : static_cast<void>(::close(fd));
    }
    if (!found) return {Errc::conflict, "a GPU is in use: '" + file + "' is locked"};
  }
  held_.insert(held_.end(), taken.held_.begin(), taken.held_.end());
  taken.held_.clear();
  return done();
}

}  // namespace starling
