// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <vector>

namespace starling {

/// The CPUs that this process may use, ascending; none if the kernel does not say.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Shares this machine's CPUs out to workers: each gets the least used ones. Never refuses; when
/// more are wanted than there are, workers share.
class CpuPool {
 public:
  CpuPool();  ///< the CPUs that this process may use
  explicit CpuPool(std::vector<int> cpus);

  /// `count` CPUs, ascending, at most all. Give them back with release().
  [[nodiscard]] std::vector<int> take(std::size_t count);
  /// These are in use already.
  void mark_used(const std::vector<int>& cpus);
  void release(const std::vector<int>& cpus);

 private:
  struct Cpu {
    int number;
    unsigned users;
  };
  std::vector<Cpu> cpus_;
};

}  // namespace starling
