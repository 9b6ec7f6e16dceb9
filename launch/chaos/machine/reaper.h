// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace starling::chaos_live {

/// A small process that outlives this one only to clean up: when this one is gone without having
/// said done(), it kills the process groups that are still known to it (also frozen ones, which
/// cannot hear a SIGTERM) and runs the commands it was given. Made before any thread.
class Reaper {
 public:
  [[nodiscard]] static Result<Reaper> start();
  ~Reaper();
  Reaper(Reaper&& other) noexcept;
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;
  Reaper& operator=(Reaper&&) = delete;

  void lives(pid_t group) const { say("p " + std::to_string(group)); }
  void gone(pid_t group) const { say("x " + std::to_string(group)); }
  /// A shell line to be run at the end.
  void at_end(const std::string& command) const { say("c " + command); }
  /// All is cleaned up.
  void done() const { say("q"); }

 private:
  Reaper(int fd, pid_t pid) : fd_(fd), pid_(pid) {}
  void say(const std::string& line) const;
  int fd_;
  pid_t pid_;
};

}  // namespace starling::chaos_live
