// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace starling {

/// CPUs and memory that a job needs beside each of its GPUs, in millionths of a CPU and of a GiB:
/// whole numbers, so that sums do not depend on their order. Zeros: nothing is asked for.
struct Demand {
  std::int64_t cpus = 0;
  std::int64_t memory = 0;
  [[nodiscard]] bool any() const noexcept { return cpus > 0 || memory > 0; }
  friend auto operator<=>(const Demand&, const Demand&) = default;
};

}  // namespace starling
