// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "base/check.h"

namespace starling::fuzz {

MemoryFile::MemoryFile(FuzzBytes bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
  STARLING_CHECK(fd_ >= 0);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = write(fd_, bytes.data() + at, bytes.size() - at);
    STARLING_CHECK(n > 0);
    at += static_cast<std::size_t>(n);
  }
}

MemoryFile::~MemoryFile() { close(fd_); }

std::filesystem::path MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(fd_); }

}  // namespace starling::fuzz
