// SPDX-License-Identifier: Apache-2.0
#include "launch/guardian/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "launch/guardian/blame.h"

namespace starling {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

/// Beyond what shells and programs count up to, and within any limit that is usual.
constexpr int kInherited = 200;

void close_between(unsigned first, unsigned last) {
  if (first > last || ::syscall(SYS_close_range, first, last, 0U) == 0) return;
  for (unsigned fd = first; fd <= last && fd < 4096; ++fd) ::close(static_cast<int>(fd));
}

/// All from `first` on but `kept`, if that is one.
void close_others(unsigned first, int kept) {
  if (kept < static_cast<int>(first)) return close_between(first, ~0U);
  close_between(first, static_cast<unsigned>(kept) - 1);
  close_between(static_cast<unsigned>(kept) + 1, ~0U);
}

void say(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) errno = 0;
}

/// For good: nothing of what we were can be taken back. Its files are its user's alone, unless the
/// job says otherwise.
bool become_user(const PartUser& user) {
  if (::syscall(SYS_setgroups, user.groups.size(), user.groups.data()) != 0) return false;
  if (::syscall(SYS_setresgid, user.gid, user.gid, user.gid) != 0) return false;
  if (::syscall(SYS_setresuid, user.uid, user.uid, user.uid) != 0) return false;
  ::umask(077);
  return ::getuid() == user.uid && ::geteuid() == user.uid && ::getegid() == user.gid;
}

/// As fork(), into the cgroup of an open folder; -1: the kernel cannot, or may not.
pid_t fork_into(int folder) {
  struct {
    std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
  } how{};
  how.flags = 0x200000000ULL;  // CLONE_INTO_CGROUP
  how.exit_signal = SIGCHLD;
  how.cgroup = static_cast<std::uint64_t>(folder);
  return static_cast<pid_t>(::syscall(SYS_clone3, &how, sizeof how));
}

/// Between fork and exec: system calls alone, because another thread may have held any lock.
[[noreturn]] void become(char* const* argv, char* const* envp, const char* folder,
                         const cpu_set_t* cpus, const SpawnSpec& spec, int input, pid_t parent,
                         bool inside) {
  ::setsid();
  if (!inside && spec.cgroup >= 0 && ::write(spec.cgroup, "0", 1) < 0)
    errno = 0;  // then by descent alone
  if (spec.niceness) (void)::setpriority(PRIO_PROCESS, 0, *spec.niceness);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before the line above
  for (int number = 1; number < 65; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int inherited = -1;  // before its number is used for something else
  if (spec.inherited >= 0) {
    inherited = ::fcntl(spec.inherited, F_DUPFD, kInherited);
    if (inherited < 0) inherited = ::fcntl(spec.inherited, F_DUPFD, STDERR_FILENO + 2);
  }
  ::dup2(input, STDIN_FILENO);
  ::dup2(spec.output, STDOUT_FILENO);
  ::dup2(spec.output, STDERR_FILENO);
  unsigned first = STDERR_FILENO + 1;
  if (spec.report >= 0) {
    const auto kept = static_cast<int>(first++);
    if (spec.report != kept) ::dup2(spec.report, kept);
    ::fcntl(kept, F_SETFD, FD_CLOEXEC);
  }
  close_others(first, inherited);
  if (cpus != nullptr && ::sched_setaffinity(0, sizeof *cpus, cpus) != 0) {
    say("starling: its CPUs cannot be set; it runs on any\n");
  }
  if (spec.user != nullptr) {
    if (!become_user(*spec.user)) {
      say("starling: cannot become the user of this job\n");
      ::_exit(126);
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // another user's process loses it
    if (::getppid() != parent) ::_exit(127);
  }
  environ = const_cast<char**>(envp);  // with the PATH that the program is looked up in
  if (folder != nullptr && ::chdir(folder) != 0) {
    const char* const why = errno == ENOENT   ? "there is no such folder on this host"
                            : errno == EACCES ? "it may not be entered"
                                              : "it cannot be entered";
    say("starling: cannot run in '");
    say(folder);
    say("': ");
    say(why);
    say("; 'submit --directory' sets another\n");
    ::_exit(126);
  }
  ::execvp(argv[0], argv);
  const int error = errno;
  if (spec.report >= 0 && machine_to_blame(error, argv[0], spec.user != nullptr) &&
      ::write(STDERR_FILENO + 1, &error, sizeof error) < 0) {
    errno = 0;
  }
  const char* const why = error == ENOENT   ? "no such program"
                          : error == EACCES ? "not executable"
                          : error == EIO    ? "it cannot be read as a program; is the file whole?"
                          : error == EAGAIN ? "its user has as many processes as it may"
                                            : "exec failed";
  say("starling: cannot run '");
  say(argv[0]);
  say("': ");
  say(why);
  say("\n");
  ::_exit(error == ENOENT ? 127 : 126);
}

}  // namespace

Result<pid_t> spawn(const SpawnSpec& spec) {
  const std::vector<char*> argv = pointers(spec.command);
  const std::vector<char*> envp = pointers(spec.environment);
  const char* folder = nullptr;
  for (const std::string& entry : spec.environment) {
    if (entry.rfind("PWD=/", 0) == 0) folder = entry.c_str() + 4;
  }
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : spec.cpus) CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t parent = ::getpid();
  // A signal to the child that comes before its handlers are reset would run ours, and be lost.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t child = null < 0 || spec.cgroup_folder < 0 ? -1 : fork_into(spec.cgroup_folder);
  const bool inside = child >= 0;
  if (null >= 0 && !inside) child = ::fork();
  if (child == 0) {
    become(argv.data(), envp.data(), folder, spec.cpus.empty() ? nullptr : &cpus, spec,
           spec.input >= 0 ? spec.input : null, parent, inside);
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (null >= 0) ::close(null);
  if (child > 0) return child;
  return {Errc::io, "cannot start '" + spec.command.front() + "': " + std::strerror(error)};
}

}  // namespace starling
