// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "launch/hosts/host_flock.h"
#include "topology/topology.h"

namespace starling {

/// The host of each server of `after`, for a flock on hosts that is to have those: as the hosts
/// file `file` says, of which only `name` and `servers` count here; "": servers that stay are where
/// they are. `invalid` names a server whose host is not said, or a host that the flock has
/// not.
[[nodiscard]] Result<std::vector<std::string>> coming_hosts(const HostFlock& hosts,
                                                            const Deployment& flock,
                                                            const Topology& before,
                                                            const Topology& after,
                                                            const std::string& file);

}  // namespace starling
