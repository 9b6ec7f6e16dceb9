// SPDX-License-Identifier: Apache-2.0
#include "bus/spare_files.h"

#include <dirent.h>
#include <sys/resource.h>

#include <cstdlib>
#include <limits>

namespace starling {
namespace {

struct Files {
  std::size_t limit = std::numeric_limits<std::size_t>::max(), open = 0;
};

/// A limit may have been lowered below numbers that are in use; those count for nothing.
Files files() {
  Files f;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return f;
  f.limit = limit.rlim_cur;
  DIR* const dir = opendir("/proc/self/fd");
  if (dir == nullptr) {  // not even one for this
    f.open = f.limit;
    return f;
  }
  const auto own = static_cast<std::size_t>(dirfd(dir));
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] == '.') continue;
    const std::size_t fd = std::strtoul(entry->d_name, nullptr, 10);
    f.open += fd < f.limit && fd != own ? 1 : 0;
  }
  closedir(dir);
  return f;
}

}  // namespace

std::size_t spare_files() {
  const Files f = files();
  return f.limit - f.open;
}

Status need_files(std::size_t needed, const std::string& what) {
  const Files f = files();
  if (f.limit - f.open >= needed) return done();
  return {Errc::io, what + " needs " + std::to_string(needed) + " file descriptors, and " +
                        std::to_string(f.limit - f.open) + " are left of the " +
                        std::to_string(f.limit) +
                        " that this process may have; raise its limit (ulimit -n, LimitNOFILE=)"};
}

}  // namespace starling
