// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "agents/epoch_authority.h"
#include "agents/record.h"
#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "launch/servers/generations.h"
#include "topology/topology.h"

namespace starling {

/// The records of a node that were written in the numbers of an earlier generation, in those of
/// `now`. Its journal says which of `earlier` that was, or nothing: then the first one. Empty: they
/// need no change. `invalid`: they cannot be read; `busy`: see agents/renumber.h.
[[nodiscard]] Result<std::vector<Record>> in_new_numbers(const DeployedNode& me,
                                                         const std::vector<Generation>& earlier,
                                                         const Deployment& now,
                                                         const Topology& topology,
                                                         const std::vector<Record>& recovered);

/// The same in the journal itself, and what it has archived: before anything else is done with
/// them. Whatever ends it in between, the journal is either in the old numbers or in the new ones.
/// `progress` is called again and again while the archive is copied, where there is a lease to
/// renew.
[[nodiscard]] Status renumber_journal(
    const DeployedNode& me, const Deployment& now, const Topology& topology, Journal& journal,
    std::vector<Record>& recovered, const std::function<void()>& progress = [] {});

}  // namespace starling
