// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>

namespace starling {
namespace {

struct CloseDir {
  void operator()(DIR* d) const { ::closedir(d); }
};

/// Is `entry` one of the NUL-separated words of `text`, or the start of one?
bool holds(const std::string& text, const std::string& entry, bool prefix) {
  for (std::size_t at = text.find(entry); at != std::string::npos; at = text.find(entry, at + 1)) {
    const bool starts = at == 0 || text[at - 1] == '\0';
    const std::size_t end = at + entry.size();
    if (starts && (prefix || end == text.size() || text[end] == '\0')) return true;
  }
  return false;
}

enum class Found { no, yes, unknown };

Found marked(int proc, const char* pid, const std::string& entry, bool prefix) {
  struct stat info {};
  if (::fstatat(proc, pid, &info, 0) != 0) return errno == ENOENT ? Found::no : Found::unknown;
  if (info.st_uid != ::geteuid() && ::geteuid() != 0) return Found::no;
  const int fd = ::openat(proc, (std::string(pid) + "/environ").c_str(), O_RDONLY | O_CLOEXEC);
  // What is not dumpable belongs to root, or cannot be read but by root; it was not
  // started with our environment as it is.
  if (fd < 0)
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? Found::unknown : Found::no;
  std::string text;
  char chunk[4096];
  for (ssize_t got = 0; (got = ::read(fd, chunk, sizeof chunk)) > 0;)
    text.append(chunk, static_cast<std::size_t>(got));
  ::close(fd);
  return holds(text, entry, prefix) ? Found::yes : Found::no;
}

}  // namespace

bool kill_marked(const std::string& mark) {
  const std::unique_ptr<DIR, CloseDir> proc(::opendir("/proc"));
  if (!proc) return false;
  const std::string entry = "STARLING_RUN=" + mark;
  bool none = true;
  while (const dirent* process = ::readdir(proc.get())) {
    if (std::isdigit(static_cast<unsigned char>(process->d_name[0])) == 0) continue;
    const auto pid = static_cast<pid_t>(std::atol(process->d_name));
    if (pid == ::getpid()) continue;
    const Found found = marked(::dirfd(proc.get()), process->d_name, entry, mark.back() == ':');
    if (found == Found::yes) ::kill(pid, SIGKILL);
    none = none && found == Found::no;
  }
  return none;
}

}  // namespace starling
