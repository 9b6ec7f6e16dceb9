// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/guardian/part_files.h"

namespace starling {

struct SpawnSpec {
  std::vector<std::string> command;  ///< argv; the program is looked up in its own PATH
  /// NAME=value, all of it. It starts in the folder that PWD names, if that is a whole path.
  std::vector<std::string> environment;
  std::vector<int> cpus;  ///< it may run on these; empty: any
  int output = -1;        ///< descriptor for its standard output and error
  int input = -1;         ///< descriptor for its standard input; -1: empty
  int cgroup = -1;        ///< descriptor of the cgroup.procs that it goes to; -1: it stays
  /// Of the folder of that: it is made in there, where the kernel can do so (Linux 5.7), which
  /// takes microseconds; to be moved there takes milliseconds.
  int cgroup_folder = -1;
  /// Descriptor for the number of an error, an int, for which the machine and not the program or
  /// its user is to blame (blame.h): no memory, no descriptors, no disk. -1: it is not told.
  int report = -1;
  std::optional<int> niceness;  ///< it takes this on before it becomes the program
  /// Descriptor that it and all that it starts have open, at a number that programs do not use;
  /// -1: none.
  int inherited = -1;
  const PartUser* user = nullptr;  ///< it becomes that user; null: it is what we are
};

/// Starts a program as leader of its own session and process group, with default signals, no other
/// descriptor of ours but the inherited one, and SIGKILL to it when the calling thread ends. A
/// program that is not there says so on `output` and exits with 127, one that cannot be run, or not
/// there, or not as that user, with 126. `io`: no process could be made.
[[nodiscard]] Result<pid_t> spawn(const SpawnSpec& spec);

}  // namespace starling
