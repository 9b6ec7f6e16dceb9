// SPDX-License-Identifier: Apache-2.0
#include "base/sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace starling {

bool sync_path(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = ::fsync(fd) == 0;
  const int why = errno;
  ::close(fd);
  errno = why;
  return synced;
}

bool sync_folder_of(const std::filesystem::path& file) {
  return sync_path(file.has_parent_path() ? file.parent_path() : ".");
}

}  // namespace starling
