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
#include <cstring>
#include <string>

namespace starling {
namespace {

/// Of field 4 of /proc/PID/stat; -1: it cannot be told.
pid_t parent_of(int proc, const char* pid) {
  const int fd = ::openat(proc, (std::string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? 0 : -1;
  char text[512];
  const ssize_t size = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (size <= 0) return 0;
  text[size] = '\0';
  const char* const name_end = std::strrchr(text, ')');
  if (name_end == nullptr || std::strlen(name_end) < 5) return -1;
  return static_cast<pid_t>(std::atol(name_end + 4));
}

}  // namespace

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
    const pid_t parent = parent_of(::dirfd(proc_), entry->d_name);
    if (parent < 0) return std::nullopt;
    if (parent == me) all.push_back(static_cast<pid_t>(std::atol(entry->d_name)));
  }
  return all;
}

void Descendants::kill_children() {
  for (const pid_t pid : children().value_or(std::vector<pid_t>{})) ::kill(pid, SIGKILL);
}

}  // namespace starling
