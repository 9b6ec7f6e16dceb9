// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "launch/servers/held_partitions.h"
#include "topology/topology.h"

namespace starling {

/// Whether all that the daemons on `host` ("": all are on this machine) have written down can be
/// said with the servers of `next`. Only while none of them runs; what they have in etcd is held by
/// `held` from here on. `invalid`: it cannot, or `next` is no next one of `now`; `busy`: not yet,
/// something uses a server that leaves or changes.
[[nodiscard]] Status try_servers(const Deployment& now, const Deployment& next,
                                 const std::string& host, HeldPartitions& held);

/// Files nodes/executor-N/health of `host` name GPUs by number. They are people's: nothing changes
/// them in passing. `invalid` names one whose numbers would be others.
[[nodiscard]] Status health_files_allow(const Deployment& flock, const std::string& host,
                                        const Topology& before, const Topology& after);

}  // namespace starling
