// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace starling {

/// The cluster of Muri's simulations.
inline constexpr std::uint32_t kMuriServers = 8;
inline constexpr std::uint32_t kMuriServerGpus = 8;

/// Free GPUs, server by server. A gang of a server's size at most takes the first server that has
/// room, a larger one whole servers and the first with room for the rest.
class MuriServers {
 public:
  MuriServers() { free_.fill(kMuriServerGpus); }
  /// False, and nothing taken, where there is no room.
  bool take(std::uint32_t gpus);

 private:
  std::array<std::uint32_t, kMuriServers> free_;
};

}  // namespace starling
