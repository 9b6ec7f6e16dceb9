// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/process_stat.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <string>

namespace starling {

std::optional<ProcessStat> process_stat(pid_t pid) {
  const int fd = ::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? std::optional<ProcessStat>(ProcessStat{}) : std::nullopt;
  char text[1024];
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  const int error = errno;
  ::close(fd);
  if (size < 0 && error == ESRCH) return ProcessStat{};
  if (size <= 0) return std::nullopt;
  text[size] = '\0';
  const char* const name_end = std::strrchr(text, ')');  // the name may hold anything
  if (name_end == nullptr) return std::nullopt;
  std::istringstream words(name_end + 1);
  ProcessStat stat;
  words >> stat.state >> stat.parent;
  std::string word;
  for (int field = 5; field <= 21; ++field) words >> word;
  return words >> stat.start ? std::optional(stat) : std::nullopt;
}

}  // namespace starling
