// SPDX-License-Identifier: Apache-2.0
#include "launch/system/plain_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace starling {

Result<std::string> read_plain(const std::filesystem::path& file) {
  constexpr off_t kMost = off_t{64} << 20U;
  const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return {Errc::not_found, file.string() + ": no such file"};
  if (fd < 0) return {Errc::io, file.string() + ": cannot be read: " + std::strerror(errno)};
  struct stat info {};
  const bool fine = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= kMost;
  std::string text;
  char chunk[16384];
  ssize_t got = 0;
  while (fine && (got = ::read(fd, chunk, sizeof chunk)) > 0)
    text.append(chunk, static_cast<std::size_t>(got));
  const std::string why = fine ? std::strerror(errno) : "it is no plain file of at most 64 MiB";
  ::close(fd);
  if (!fine || got < 0) return {Errc::io, file.string() + ": cannot be read: " + why};
  return text;
}

}  // namespace starling
