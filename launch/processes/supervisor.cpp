// SPDX-License-Identifier: Apache-2.0
#include "launch/processes/supervisor.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "base/visible.h"

namespace starling {
namespace {

/// Between fork and exec: only what is safe there.
[[noreturn]] void become(char* const* argv, char* const* envp, int log, int report, pid_t parent,
                         int farewell, const sigset_t& blocked) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, farewell);
  if (getppid() != parent) _exit(1);  // the parent died before the line above took hold
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  execve(argv[0], argv, envp);
  const int why = errno;
  const auto ignored = write(report, &why, sizeof why);
  (void)ignored;
  _exit(127);
}

}  // namespace

Supervisor::~Supervisor() { stop_all(); }

Status Supervisor::start(const std::string& name, const std::vector<std::string>& argv,
                         const std::filesystem::path& log,
                         const std::vector<std::string>& environment, EarlyStop early) {
  std::vector<char*> words, names;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // The first of two alike is the one that counts.
  for (const std::string& entry : environment) names.push_back(const_cast<char*>(entry.c_str()));
  for (char** entry = environ; *entry != nullptr; ++entry) names.push_back(*entry);
  names.push_back(nullptr);

  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (out < 0) return {Errc::io, log.string() + ": " + std::strerror(errno)};
  int report[2];  // closed by a successful exec, carries errno otherwise
  if (pipe2(report, O_CLOEXEC) != 0) {
    close(out);
    return {Errc::io, std::string("pipe: ") + std::strerror(errno)};
  }
  const pid_t parent = getpid();
  // Nor is one lost that comes before the child has the mask that it is to have.
  sigset_t stops, before;
  sigemptyset(&stops);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&stops, signal);
  pthread_sigmask(SIG_BLOCK, &stops, &before);
  sigset_t blocked = before;
  for (const int signal : {SIGINT, SIGTERM})
    early == EarlyStop::waits ? sigaddset(&blocked, signal) : sigdelset(&blocked, signal);
  const pid_t pid = fork();
  if (pid == 0) become(words.data(), names.data(), out, report[1], parent, farewell_, blocked);
  const int fork_error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(out);
  close(report[1]);
  int why = 0;
  if (pid > 0) setpgid(pid, pid);  // also here: whichever comes first
  const bool failed_exec = pid > 0 && read(report[0], &why, sizeof why) == sizeof why;
  close(report[0]);
  if (pid < 0) return {Errc::io, "cannot start " + name + ": " + std::strerror(fork_error)};
  if (failed_exec) {
    waitpid(pid, nullptr, 0);
    return {Errc::io, "cannot start " + argv.front() + ": " + std::strerror(why)};
  }
  children_.emplace(pid, Child{name, log});
  return done();
}

std::vector<Supervisor::Ended> Supervisor::poll() {
  std::vector<Ended> ended;
  for (auto it = children_.begin(); it != children_.end();) {
    int status = 0;
    if (waitpid(it->first, &status, WNOHANG) != it->first) {
      ++it;
      continue;
    }
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    ended.push_back({it->second.name, code, it->second.log});
    kill(-it->first, SIGKILL);  // what it left behind in its group
    it = children_.erase(it);
  }
  return ended;
}

pid_t Supervisor::pid_of(const std::string& name) const {
  for (const auto& [pid, child] : children_) {
    if (child.name == name) return pid;
  }
  return 0;
}

void Supervisor::stop_all(std::chrono::milliseconds grace, bool keep_jobs) {
  for (const auto& [pid, child] : children_) kill(-pid, keep_jobs ? SIGUSR1 : SIGTERM);
  const auto until = std::chrono::steady_clock::now() + grace;
  while (!children_.empty() && std::chrono::steady_clock::now() < until) {
    if (poll().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const auto& [pid, child] : children_) {
    kill(-pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  children_.clear();
}

std::string how_ended(const Supervisor::Ended& ended) {
  if (ended.status >= 0) return "ended with exit code " + std::to_string(ended.status);
  return "was killed by signal " + std::to_string(-ended.status) + " (" + strsignal(-ended.status) +
         ")";
}

std::string describe(const Supervisor::Ended& ended, std::size_t lines) {
  const std::string tail = last_lines(ended.log, lines);
  return ended.name + " " + how_ended(ended) +
         (tail.empty() ? "; it wrote nothing" : "; its last lines:\n" + tail);
}

std::string last_lines(const std::filesystem::path& file, std::size_t lines) {
  constexpr std::streamoff kTail = 64 * 1024;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (const std::streamoff size = in.tellg(); size > kTail) {
    in.seekg(size - kTail);
    in.ignore(kTail, '\n');  // the rest of a line
  } else {
    in.seekg(0);
  }
  std::deque<std::string> kept;
  for (std::string line; std::getline(in, line);) {
    kept.push_back("  " + visible_line(line));
    if (kept.size() > lines) kept.pop_front();
  }
  std::string text;
  for (const std::string& line : kept) text += (text.empty() ? "" : "\n") + line;
  return text;
}

std::string own_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "starling";
  // One that was replaced while it ran: its successor is what should be started from now on.
  constexpr std::string_view kGone = " (deleted)";
  std::string name = path.string();
  if (!name.ends_with(kGone) || std::filesystem::exists(name, error)) return name;
  name.resize(name.size() - kGone.size());
  return std::filesystem::exists(name, error) ? name : path.string();
}

}  // namespace starling
