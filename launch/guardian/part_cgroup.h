// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace starling {

/// What the processes of a part may use together; 0: any amount.
struct PartLimits {
  double cpus = 0;
  double memory_gib = 0;
};

/// A cgroup (v2) for the processes of one part, where one can be had. It says whether a process is
/// left, kills all at once, also what forks faster than it can be followed, and keeps them to what
/// they asked for of CPUs and memory. All descriptors
/// that it needs are open from the beginning.
class PartCgroup {
 public:
  /// The folder in which this process may make cgroups; empty: there is none.
  [[nodiscard]] static std::string base();

  /// Makes the cgroup `folder` with these limits: cpu.max, and where CPUs are short a weight of 100
  /// for each; memory.max without swap, and beyond it all its processes are killed together. The
  /// answer says what could be had: controllers are there where `folder` is right below the root,
  /// or below a cgroup that has no processes of its own (own_cgroup.h). `make` false: only one that
  /// is there is given its limits, again, as they are lost where the controllers were.
  struct Limited {
    bool cpus = true, memory = true;
  };
  static Limited limit(const std::string& folder, const PartLimits& limits, bool make = true);

  PartCgroup() = default;
  ~PartCgroup() { close(); }
  PartCgroup(const PartCgroup&) = delete;
  PartCgroup& operator=(const PartCgroup&) = delete;

  /// Makes it, or opens one that is there. False: it cannot be had.
  bool make(const std::string& folder);
  bool open(const std::string& folder);
  void close();
  [[nodiscard]] bool is_open() const noexcept { return procs_ >= 0; }

  /// A descriptor to which a process writes "0" to get in; -1: none.
  [[nodiscard]] int door() const noexcept { return procs_; }
  /// One of the folder, in which a process can be made; -1: none.
  [[nodiscard]] int folder() const noexcept { return place_; }
  void kill();
  /// True also where it cannot be told. Of a cgroup that is not open: false.
  [[nodiscard]] bool populated() const;
  /// Processes that were killed because the part used more memory than it may.
  [[nodiscard]] std::uint64_t killed_for_memory() const;
  /// Removes it, once it is empty.
  void remove();

 private:
  std::string folder_;
  int place_ = -1, procs_ = -1, events_ = -1, kill_ = -1, memory_ = -1;
};

}  // namespace starling
