// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/misbehave.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace starling::chaos_live {
namespace {

constexpr unsigned kHoldS = 90;
constexpr int kPrintedKib = 4096;

[[noreturn]] void hold() {
  ::sleep(kHoldS);
  ::_exit(0);
}

/// What setproctitle() does: the memory that /proc/PID/environ and cmdline show is the process's
/// own.
void forget_the_job() {
  std::ifstream stat("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  constexpr int kArgStart = 48, kEnvEnd = 51, kFirst = 3;
  std::uintptr_t from = 0, until = 0;
  std::string word;
  for (int field = kFirst; fields >> word; ++field) {
    if (field == kArgStart) from = std::strtoull(word.c_str(), nullptr, 10);
    if (field == kEnvEnd) until = std::strtoull(word.c_str(), nullptr, 10);
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives addresses as numbers
  if (from != 0 && until > from) std::memset(reinterpret_cast<void*>(from), 0, until - from);
}

void leave_grandchild(bool forgetful) {
  const pid_t child = ::fork();
  if (child != 0) {
    if (child > 0) ::waitpid(child, nullptr, 0);
    return;
  }
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  if (forgetful) forget_the_job();
  hold();
}

/// Each lives for a moment, in a session of its own, so that who looks for them finds them gone.
void leave_chain() {
  if (::fork() != 0) return;
  for (unsigned left = kHoldS * 10; left > 0; --left) {
    ::setsid();
    ::usleep(100'000);
    if (::fork() != 0) ::_exit(0);
  }
  ::_exit(0);
}

void print() {
  std::string line(1023, 'x');
  line += '\n';
  for (int kib = 0; kib < kPrintedKib; ++kib) std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

void put_fifo(const std::string& file) {
  if (file.empty() || file.front() != '/') return;
  ::unlink(file.c_str());
  if (::mkfifo(file.c_str(), 0600) != 0) std::perror(file.c_str());
}

/// A part's log stands beside its steps; what the job prints goes through a pipe.
std::string log_of(const std::string& steps) {
  return std::filesystem::path(steps).replace_extension(".log").string();
}

}  // namespace

void misbehave(Manner manner) {
  const char* const said = std::getenv("STARLING_STEPS");
  const std::string steps = said == nullptr ? "" : said;
  switch (manner) {
    case Manner::child:
      if (::fork() == 0) hold();
      return;
    case Manner::session:
      if (::fork() == 0) {
        ::setsid();
        hold();
      }
      return;
    case Manner::daemon:
    case Manner::escape:
      leave_grandchild(manner == Manner::escape);
      return;
    case Manner::chain:
      leave_chain();
      return;
    case Manner::deaf:
      ::signal(SIGTERM, SIG_IGN);
      return;
    case Manner::print:
      print();
      return;
    case Manner::fifo_steps:
      put_fifo(steps);
      return;
    case Manner::fifo_log:
      if (!steps.empty()) put_fifo(log_of(steps));
      return;
    case Manner::plain:
    case Manner::wait:
    case Manner::fail:
    case Manner::fail_one:
      return;
  }
}

}  // namespace starling::chaos_live
