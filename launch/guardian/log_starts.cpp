// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/log_starts.h"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "launch/guardian/part_files.h"

namespace starling {
namespace {

constexpr std::size_t kBytes = 84;

std::string file_of(const std::string& log) { return log + ".from"; }

}  // namespace

std::optional<std::uint64_t> LogStarts::of_newest(std::uint64_t inode) const noexcept {
  return inode != 0 && inode == newest.inode ? std::optional(newest.bytes) : std::nullopt;
}

std::optional<std::uint64_t> LogStarts::of_before(std::uint64_t inode) const noexcept {
  if (inode != 0 && inode == before.inode) return before.bytes;
  return of_newest(inode);
}

void LogStarts::write(const std::string& log) const {
  char text[kBytes + 1];
  std::snprintf(text, sizeof text, "%020" PRIu64 " %020" PRIu64 "\n%020" PRIu64 " %020" PRIu64 "\n",
                before.inode, before.bytes, newest.inode, newest.bytes);
  const std::string file = file_of(log);
  const int fd =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  const bool written = fd >= 0 && ::pwrite(fd, text, kBytes, 0) == static_cast<ssize_t>(kBytes);
  if (fd >= 0) ::close(fd);
  if (!written) ::unlink(file.c_str());
}

LogStarts LogStarts::read(const std::string& log) {
  const auto text = read_own_file(file_of(log), kBytes);
  LogStarts starts;
  if (!text || text.value().size() != kBytes ||
      std::sscanf(text.value().c_str(), "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
                  &starts.before.inode, &starts.before.bytes, &starts.newest.inode,
                  &starts.newest.bytes) != 4)
    return {};
  return starts;
}

}  // namespace starling
