// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "launch/hardware/machine_found.h"
#include "launch/remote/host.h"

namespace starling {

/// The hosts of a hosts file, or with "slurm" those of this allocation; what is said of servers is
/// not looked at, since they are to be found out. `invalid` as load_hosts() says it.
[[nodiscard]] Result<HostSet> hosts_to_look_at(const std::string& hosts);

/// Every host as it shows itself (launch/hardware/look.h), under the name that `set` gives it, in
/// its order. The program runs there from where the host says; where it says nothing, this one is
/// copied to a temporary folder, which is removed again. `io`: a line for each host that cannot be
/// looked at.
[[nodiscard]] Result<std::vector<MachineFound>> look_at_hosts(const HostSet& set);

}  // namespace starling
