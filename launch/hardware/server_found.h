// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/hardware/machine_found.h"
#include "topology/topology.h"

namespace starling {

/// Sentences about servers, each said once with the servers that it is about.
class Guesses {
 public:
  void add(const std::string& sentence, const std::string& server);
  /// "guessed: SENTENCE (h1, h2 and 7 more)".
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<std::string>> servers_;
};

/// A machine as a topology has it. Its GPUs' type is `type`, to be made an id by the caller.
struct ServerFound {
  Server server;  ///< without gpus and gpu_type
  GpuType type;
  double nvlink_gbps = 0;  ///< of each GPU
};
[[nodiscard]] ServerFound server_found(const MachineFound& machine, Guesses& guesses);

}  // namespace starling
