// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/blame.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace starling {
namespace {

constexpr std::size_t kPathBytes = 4096;
constexpr int kReads = 256;  // of 4 KiB: what the kernel reads of a program to start it is in these

/// The first file that execvp() would find, opened; -1 with the reason in `errno`.
int open_program(const char* program) {
  constexpr int kHow = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
  if (std::strchr(program, '/') != nullptr) return ::open(program, kHow);
  const char* path = std::getenv("PATH");
  if (path == nullptr) path = "/bin:/usr/bin";
  const std::size_t name = std::strlen(program);
  while (*path != '\0') {
    const std::size_t folder = std::strcspn(path, ":");
    char file[kPathBytes];
    if (folder + name + 2 <= sizeof file) {
      std::memcpy(file, path, folder);
      file[folder] = '/';
      std::memcpy(file + folder + (folder > 0 ? 1 : 0), program, name + 1);
      const int fd = ::open(file, kHow);
      if (fd >= 0 || errno == EIO) return fd;
    }
    path += folder;
    if (*path == ':') ++path;
  }
  errno = ENOENT;
  return -1;
}

enum class Sight { whole, broken_disk, users_own };

Sight look_at(const char* program, bool another_user) {
  const int fd = open_program(program);
  if (fd < 0) return errno == EIO ? Sight::broken_disk : Sight::whole;
  struct statfs where {};
  Sight sight = Sight::whole;
  if (another_user && ::fstatfs(fd, &where) == 0 && where.f_type == FUSE_SUPER_MAGIC) {
    sight = Sight::users_own;
  } else {
    char some[4096];
    ssize_t size = 1;
    for (int i = 0; i < kReads && size > 0; ++i) size = ::read(fd, some, sizeof some);
    if (size < 0 && errno == EIO) sight = Sight::broken_disk;
  }
  ::close(fd);
  return sight;
}

}  // namespace

bool machine_to_blame(int error, const char* program, bool another_user) {
  switch (error) {
    case EIO:
      return look_at(program, another_user) == Sight::broken_disk;
    case EAGAIN:
      return !another_user;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
      return look_at(program, another_user) != Sight::users_own;
    default:
      return false;
  }
}

}  // namespace starling
