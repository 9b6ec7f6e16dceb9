// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// Starts processes, watches them, and stops everything it started, whatever happens: each is the
/// leader of its own process group (so a terminal's Ctrl-C reaches only the supervisor) and gets
/// `farewell` from the kernel if the supervisor dies. Use it from one thread, which must outlive
/// the children.
class Supervisor {
 public:
  struct Ended {
    std::string name;
    int status = 0;  ///< exit code, or -signal
    std::filesystem::path log;
  };

  /// `farewell`: SIGTERM, or SIGUSR1, by which executors leave their jobs (signals.h).
  explicit Supervisor(int farewell = SIGTERM) : farewell_(farewell) {}
  /// stop_all(), with its default grace.
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// What a child does with a request to stop that comes before it listens for one: it dies of it,
  /// or finds it waiting once it has called catch_stop_signals() (signals.h).
  enum class EarlyStop { kills, waits };

  /// `argv[0]` is a path. stdout and stderr go to `log`, stdin is empty. `environment`: NAME=value,
  /// beside this process's own. `io` if it could not be started.
  Status start(const std::string& name, const std::vector<std::string>& argv,
               const std::filesystem::path& log, const std::vector<std::string>& environment = {},
               EarlyStop early = EarlyStop::kills);
  /// Those that ended since the last call, by themselves or killed. Never waits.
  [[nodiscard]] std::vector<Ended> poll();
  [[nodiscard]] std::size_t running() const noexcept { return children_.size(); }
  /// Of a child that poll() has not reported yet; 0 if there is none of that name.
  [[nodiscard]] pid_t pid_of(const std::string& name) const;
  /// SIGTERM to all groups, SIGKILL to those that are still there after `grace`; returns when all
  /// are gone. `keep_jobs`: SIGUSR1 instead, so that executors leave their jobs to their next lives
  /// (signals.h).
  void stop_all(std::chrono::milliseconds grace = std::chrono::seconds(5), bool keep_jobs = false);

 private:
  struct Child {
    std::string name;
    std::filesystem::path log;
  };
  std::map<pid_t, Child> children_;
  int farewell_;
};

/// "ended with exit code 74", "was killed by signal 9 (Killed)".
[[nodiscard]] std::string how_ended(const Supervisor::Ended& ended);
/// "agent-0 ended with exit code 74; its last lines: ..." for one message to the user.
[[nodiscard]] std::string describe(const Supervisor::Ended& ended, std::size_t lines = 8);
/// The last `lines` lines of a file, of its last 64 KiB; empty if it cannot be read.
[[nodiscard]] std::string last_lines(const std::filesystem::path& file, std::size_t lines);
/// The path of the program that runs now, to start more of it.
[[nodiscard]] std::string own_program();

}  // namespace starling
