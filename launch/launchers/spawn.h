#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

struct SpawnSpec {
  std::vector<std::string> command;      ///< argv; the program is looked up in PATH
  std::vector<std::string> environment;  ///< NAME=value, all of it
  std::vector<int> cpus;                 ///< it may run on these; empty: any
  int output = -1;                       ///< descriptor for its standard output and error
  int input = -1;                        ///< descriptor for its standard input; -1: empty
};

/// Starts a program as leader of its own session and process group, with default signals, no other
/// descriptor of ours, and SIGKILL to it when the calling thread ends. A program that cannot be run
/// says so on `output` and exits with 127. `io`: no process could be made.
[[nodiscard]] Result<pid_t> spawn(const SpawnSpec& spec);

}  // namespace starling
