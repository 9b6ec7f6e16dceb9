// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"

namespace starling {

/// One end of a connection between the two ranks of a data-parallel job, over loopback TCP. Each
/// direction is paced like a link of its own, since loopback itself has no speed but the CPU's.
class Exchange {
 public:
  /// Takes over a connected socket.
  explicit Exchange(int socket) : socket_(socket) {}
  ~Exchange();
  Exchange(Exchange&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), theirs_(std::move(other.theirs_)) {}
  Exchange& operator=(Exchange&&) = delete;

  /// Both ranks call this with gradients of one size; each then has the mean of the two. False
  /// once the other rank is gone.
  [[nodiscard]] bool average(std::span<float> gradients);

 private:
  int socket_;
  std::vector<float> theirs_;  // kept, since fresh memory costs more than filling it
};

/// Two connected ends, paced to `bytes_per_s` each way. `io`: the system's reason.
[[nodiscard]] Result<std::pair<Exchange, Exchange>> loopback_exchange(std::uint32_t bytes_per_s);

}  // namespace starling
