// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "interference/profile/workload_spec.h"

namespace starling {

/// One workload as a process of its own, pinned to one core, waiting for orders. It takes no CPU
/// while it waits. It is killed with this object, and by the kernel if this process dies.
class ProfileWorker {
 public:
  struct Options {
    std::string program;
    WorkloadSpec spec;
    int core = 0;
    bool gpu = false;
    bool first = false;  ///< takes precedence over what else runs on the machine
    std::uint64_t seed = 1;
    std::function<bool()> stop;  ///< true: give up waiting, with `busy`
  };
  /// Instants of the monotonic clock: it runs steps from `start` to `end` and counts those from
  /// `from` to `to`. Without `run` it makes no steps; with `hold` nothing else gets on its core
  /// meanwhile, as far as the right to take precedence goes.
  struct Order {
    std::chrono::steady_clock::time_point start, from, to, end;
    bool run = true, hold = false;
  };
  struct Answer {
    double steps_per_s = 0;
    double cpu = 0;   ///< CPU seconds per second while it counted
    double held = 0;  ///< and those that it took to hold its core
  };

  explicit ProfileWorker(Options options);
  ~ProfileWorker();
  ProfileWorker(const ProfileWorker&) = delete;
  ProfileWorker& operator=(const ProfileWorker&) = delete;

  [[nodiscard]] Status start();
  /// Waits until it has built its network and run some steps. Its own message if it cannot.
  [[nodiscard]] Status wait_ready();
  [[nodiscard]] Status order(const Order& order);
  [[nodiscard]] Result<Answer> answer(const Order& order);

 private:
  Result<std::string> line(std::chrono::steady_clock::time_point until);
  Error broken(const std::string& what) const;

  Options options_;
  pid_t process_ = -1;
  int input_ = -1, output_ = -1;
  std::string read_;   // not yet a whole line
  std::string noise_;  // the last line that was no answer: why it ended
};

/// What `program --probe` says of itself: does its libtorch see a GPU?
struct WorkerProbe {
  bool gpu = false;
  std::string torch;  ///< version
};
[[nodiscard]] Result<WorkerProbe> probe_worker(const std::string& program);

/// starling-profile: beside this program, or in PATH. `unsupported` says how to get it.
[[nodiscard]] Result<std::string> find_worker_program();

}  // namespace starling
