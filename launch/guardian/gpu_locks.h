// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// One lock for each GPU of a part, held for as long as this object lives: the proof, on a real
/// machine, that no GPU is given to more parts than may share it. A process that is killed holds
/// none.
class GpuLocks {
 public:
  GpuLocks() = default;
  ~GpuLocks();
  GpuLocks(GpuLocks&& other) noexcept : held_(std::move(other.held_)) { other.held_.clear(); }
  GpuLocks& operator=(GpuLocks&&) = delete;

  /// The first free one of `files[i].0` to `files[i].SLOTS-1`, for each i. `conflict`: one has none
  /// left; `io`: it cannot be told. Then nothing is held.
  [[nodiscard]] Status take(const std::vector<std::string>& files, std::uint64_t slots);

 private:
  std::vector<int> held_;
};

}  // namespace starling
