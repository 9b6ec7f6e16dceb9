// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/spare_bytes.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <limits>

namespace starling {

std::uint64_t spare_bytes(int fd) {
  constexpr std::uint64_t kReserve = 256ULL << 20U, kShare = 20;
  struct statvfs disk {};
  if (::fstatvfs(fd, &disk) != 0) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t reserve = std::min(kReserve, disk.f_blocks * disk.f_frsize / kShare);
  const std::uint64_t free = disk.f_bavail * disk.f_frsize;
  return free - std::min(free, reserve);
}

}  // namespace starling
