// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <vector>

namespace starling {

/// Everything that this process started, and what that started, whatever sessions, names and
/// environments it gave itself: its descendants, whose orphans become its children. One such
/// object in a process, made before the first child, by the thread that starts them; it holds all
/// descriptors that it will need.
class Descendants {
 public:
  Descendants();
  ~Descendants();
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;

  /// Collects those that are dead and tells of each. False: no descendant is left, which the kernel
  /// says itself, so there is nothing that could not be looked at.
  bool collect(const std::function<void(pid_t pid, int status)>& ended);
  /// The children as they are now. They stay ours, dead or alive, until collect(). Nothing: it
  /// cannot be told.
  [[nodiscard]] std::optional<std::vector<pid_t>> children();
  /// SIGKILL to every child. What these leave behind become children, so that rounds of this and
  /// collect() end all of them.
  void kill_children();

 private:
  int list_ = -1;        // /proc/self/task/TID/children, where the kernel has it
  DIR* proc_ = nullptr;  // else all processes
};

}  // namespace starling
