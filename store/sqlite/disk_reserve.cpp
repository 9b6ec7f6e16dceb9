// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/disk_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

namespace starling {
namespace {

constexpr std::uint64_t kBlock = 4096, kPieces = 8;

struct Room {
  std::uint64_t whole = 0;  ///< of a reserve there
  std::uint64_t free = 0;   ///< for this process
};

std::optional<Room> room_of(int fd) {
  struct statvfs disk {};
  if (::fstatvfs(fd, &disk) != 0) return std::nullopt;
  const std::uint64_t all = std::uint64_t{disk.f_blocks} * disk.f_frsize;
  const std::uint64_t blocks = ::geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
  const std::uint64_t whole = std::min(DiskReserve::kMost, all / DiskReserve::kShare);
  return Room{std::max(whole / kBlock * kBlock, kBlock), blocks * disk.f_frsize};
}

std::uint64_t size_of(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

}  // namespace

bool DiskReserve::refill() {
  if (file_.empty()) return true;
  const int fd = ::open(file_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) {
    short_ = errno == ENOSPC;
    return !short_;
  }
  const std::optional<Room> room = room_of(fd);
  const std::uint64_t has = size_of(fd);
  const std::uint64_t missing = room ? room->whole - std::min(has, room->whole) : 0;
  if (room) {
    short_ = room->free < missing + room->whole / 2;
    if (!short_ && missing > 0) {
      const int refused = ::posix_fallocate(fd, 0, static_cast<off_t>(room->whole));
      short_ = refused == ENOSPC;
      if (refused != 0 && ::ftruncate(fd, static_cast<off_t>(has)) != 0) errno = 0;
    }
  }
  ::close(fd);
  return !short_;
}

bool DiskReserve::release() {
  if (file_.empty()) return false;
  short_ = true;
  const int fd = ::open(file_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  const std::uint64_t has = size_of(fd);
  const std::optional<Room> room = room_of(fd);
  const std::uint64_t piece =
      room ? std::max(room->whole / kPieces / kBlock * kBlock, kBlock) : kBlock;
  const bool given =
      has > 0 && ::ftruncate(fd, static_cast<off_t>(has - std::min(has, piece))) == 0;
  ::close(fd);
  return given;
}

}  // namespace starling
