// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/reaper.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

namespace starling::chaos_live {
namespace {

[[noreturn]] void watch(int fd) {
  setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  const int nothing = open("/dev/null", O_RDWR);
  for (int other = 0; other < 3; ++other) dup2(nothing, other);
  for (int other = 3; other < 1024; ++other) {
    if (other != fd) close(other);
  }
  std::set<pid_t> groups;
  std::vector<std::string> commands;
  std::string text;
  char buffer[4096];
  for (ssize_t size = 0; (size = read(fd, buffer, sizeof buffer)) != 0;) {
    if (size < 0) {
      if (errno == EINTR) continue;
      break;
    }
    text.append(buffer, static_cast<std::size_t>(size));
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos;
         text.erase(0, end + 1)) {
      const std::string line = text.substr(0, end);
      if (line == "q") _exit(0);
      const std::string rest = line.size() > 2 ? line.substr(2) : "";
      if (line[0] == 'c') {
        commands.push_back(rest);
      } else if (const auto pid = static_cast<pid_t>(std::atol(rest.c_str())); pid > 1) {
        line[0] == 'p' ? void(groups.insert(pid)) : void(groups.erase(pid));
      }
    }
  }
  for (const pid_t group : groups) kill(-group, SIGKILL);
  for (const std::string& command : commands) {
    if (std::system(command.c_str()) != 0) continue;  // no process is left to be told
  }
  _exit(0);
}

}  // namespace

Result<Reaper> Reaper::start() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {Errc::io, std::string("pipe: ") + std::strerror(errno)};
  const pid_t pid = fork();
  if (pid < 0) return {Errc::io, std::string("fork: ") + std::strerror(errno)};
  if (pid == 0) {
    close(ends[1]);
    watch(ends[0]);
  }
  close(ends[0]);
  return Reaper(ends[1], pid);
}

Reaper::Reaper(Reaper&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), pid_(std::exchange(other.pid_, 0)) {}

Reaper::~Reaper() {
  if (fd_ < 0) return;
  close(fd_);
  waitpid(pid_, nullptr, 0);
}

void Reaper::say(const std::string& line) const {
  const std::string text = line + "\n";
  const auto ignored = write(fd_, text.data(), text.size());
  (void)ignored;
}

}  // namespace starling::chaos_live
