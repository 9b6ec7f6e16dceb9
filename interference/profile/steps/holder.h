// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace starling {

/// Keeps this process's share of its core from others while its own work waits: a thread that spins
/// without touching memory and makes way for any other thread of the process at once.
class Holder {
 public:
  Holder();
  ~Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  /// From now until then. It takes no CPU otherwise.
  void hold_until(std::chrono::steady_clock::time_point at);
  /// CPU time that it has taken so far.
  [[nodiscard]] std::uint64_t cpu_ns() const;

 private:
  void run();

  std::atomic<std::int64_t> until_ns_{0};  // 0: nothing to do; -1: end
  clockid_t clock_{};
  std::thread thread_;
};

}  // namespace starling
