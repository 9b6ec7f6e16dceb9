// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/descendants.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "launch/guardian/process_stat.h"

namespace starling {

Descendants::Descendants() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto thread = std::to_string(::syscall(SYS_gettid));
  list_ = ::open(("/proc/self/task/" + thread + "/children").c_str(), O_RDONLY | O_CLOEXEC);
  proc_ = ::opendir("/proc");
}

Descendants::~Descendants() {
  if (list_ >= 0) ::close(list_);
  if (proc_ != nullptr) ::closedir(proc_);
}

bool Descendants::collect(const std::function<void(pid_t, int)>& ended) {
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid > 0) {
      if (ended) ended(pid, status);
    } else if (pid == 0) {
      return true;
    } else if (errno != EINTR) {
      return errno != ECHILD;
    }
  }
}

std::optional<std::vector<pid_t>> Descendants::children() {
  std::vector<pid_t> all;
  if (list_ >= 0) {
    std::string text;
    char chunk[4096];
    ssize_t got = ::lseek(list_, 0, SEEK_SET) < 0 ? -1 : 1;
    while (got > 0 && (got = ::read(list_, chunk, sizeof chunk)) > 0)
      text.append(chunk, static_cast<std::size_t>(got));
    if (got == 0) {
      for (const char* at = text.c_str(); *at != '\0';) {
        char* end = nullptr;
        const long pid = std::strtol(at, &end, 10);
        if (end == at) break;
        all.push_back(static_cast<pid_t>(pid));
        at = *end == ' ' ? end + 1 : end;
      }
      return all;
    }
  }
  if (proc_ == nullptr) return std::nullopt;
  ::rewinddir(proc_);
  const pid_t me = ::getpid();
  while (const dirent* entry = ::readdir(proc_)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const auto pid = static_cast<pid_t>(std::atol(entry->d_name));
    const auto stat = process_stat(pid);
    if (!stat) return std::nullopt;
    if (stat->state != 'X' && stat->parent == me) all.push_back(pid);
  }
  return all;
}

void Descendants::kill_children() {
  for (const pid_t pid : children().value_or(std::vector<pid_t>{})) ::kill(pid, SIGKILL);
}

}  // namespace starling
