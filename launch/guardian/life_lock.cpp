// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/life_lock.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace starling {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::filesystem::path file_in(const std::filesystem::path& folder) { return folder / "alive"; }

bool has_open(const std::string& pid, const struct stat& file) {
  const Folder open_files(::opendir(("/proc/" + pid + "/fd").c_str()));
  if (!open_files) return false;  // gone, or another user's
  while (const dirent* entry = ::readdir(open_files.get())) {
    struct stat info {};
    if (::fstatat(::dirfd(open_files.get()), entry->d_name, &info, 0) == 0 &&
        info.st_dev == file.st_dev && info.st_ino == file.st_ino)
      return true;
  }
  return false;
}

/// SIGKILL to the processes of `user` that have the file open. The descriptor of each holds its
/// number until the signal is sent.
void kill_holders(const struct stat& file, uid_t user) {
  const Folder proc(::opendir("/proc"));
  if (!proc) return;
  while (const dirent* process = ::readdir(proc.get())) {
    const std::string pid = process->d_name;
    if (std::isdigit(static_cast<unsigned char>(pid[0])) == 0) continue;
    if (std::atol(pid.c_str()) == ::getpid() || !has_open(pid, file)) continue;
    const int held = static_cast<int>(::syscall(SYS_pidfd_open, std::atol(pid.c_str()), 0));
    if (held < 0) continue;
    struct stat owner {};
    if (::fstatat(::dirfd(proc.get()), pid.c_str(), &owner, 0) == 0 && owner.st_uid == user &&
        has_open(pid, file))
      ::syscall(SYS_pidfd_send_signal, held, SIGKILL, nullptr, 0);
    ::close(held);
  }
}

}  // namespace

Result<int> lock_life(const std::filesystem::path& folder) {
  const std::filesystem::path file = file_in(folder);
  // A worker of another user inherits it, and can write nothing with it.
  const int fd = ::open(file.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  return {Errc::io, "cannot lock '" + file.string() + "': " + std::strerror(error)};
}

bool kill_life_holders(const std::filesystem::path& folder, uid_t user) {
  const int fd = ::open(file_in(folder).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT;
  struct stat file {};
  const bool free = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  if (!free && ::fstat(fd, &file) == 0) kill_holders(file, user);
  ::close(fd);
  return free;
}

}  // namespace starling
