// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/hardware/found_network.h"
#include "launch/hardware/machine_found.h"
#include "topology/topology.h"

namespace starling {

/// A data centre, and what of it is a guess: sentences that begin with "guessed:", or with
/// "left out:" what was seen and a topology cannot say.
struct FoundTopology {
  Topology topology;
  std::vector<std::string> remarks;  ///< one line each, of characters that can be seen
};

/// The data centre of those machines on that network. Servers below the same switches are a rack,
/// racks below the same switches a pod; GPUs are in NVML's order, as jobs are told them. Machines
/// whose GPUs say that they share a fabric (cluster and clique), or that the network says, are a
/// scale-up domain. `invalid`: two machines of one name, none, more GPUs than a server can have, or
/// what was found (names, amounts) cannot be written into a topology file.
[[nodiscard]] Result<FoundTopology> topology_found(const std::vector<MachineFound>& machines,
                                                   const FoundNetwork& network,
                                                   const std::string& name);

}  // namespace starling
