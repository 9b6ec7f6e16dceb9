#pragma once

#include <string>

namespace starling {

/// A cgroup (v2) for the processes of one part, where one can be had. It says whether anybody is
/// left, and kills all at once, also what forks faster than it can be followed. All descriptors
/// that it needs are open from the beginning.
class PartCgroup {
 public:
  /// The folder in which this process may make cgroups; empty: there is none.
  [[nodiscard]] static std::string base();

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
  void kill();
  /// True also where it cannot be told. Of a cgroup that is not open: false.
  [[nodiscard]] bool populated() const;
  /// Removes it, once it is empty.
  void remove();

 private:
  std::string folder_;
  int procs_ = -1, events_ = -1, kill_ = -1;
};

}  // namespace starling
