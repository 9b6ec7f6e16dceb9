#include "launch/launchers/process_tree.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
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

}  // namespace

bool group_is_gone(pid_t group) {
  while (::waitpid(-group, nullptr, WNOHANG) > 0) {
  }
  return ::kill(-group, 0) != 0 && errno == ESRCH;
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::size_t kill_marked(const std::string& mark, bool prefix) {
  const std::unique_ptr<DIR, CloseDir> proc(::opendir("/proc"));
  if (!proc) return 0;
  const std::string entry = "STARLING_RUN=" + mark;
  std::size_t found = 0;
  while (const dirent* process = ::readdir(proc.get())) {
    if (std::isdigit(static_cast<unsigned char>(process->d_name[0])) == 0) continue;
    const auto pid = static_cast<pid_t>(std::atol(process->d_name));
    if (pid == ::getpid()) continue;
    std::ifstream file("/proc/" + std::string(process->d_name) + "/environ", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!holds(text, entry, prefix)) continue;
    ++found;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, WNOHANG);
  }
  return found;
}

}  // namespace starling
