// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "agents/epoch_authority.h"
#include "launch/deployment/accept_loss.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/old_state.h"
#include "launch/deployment/state_dir.h"
#include "store/etcd/etcd_client.h"

namespace starling {

// State in etcd that is an old copy, or lacks something: what launch/deployment/old_state.h and
// launch/deployment/accept_loss.h are for state in a directory. What a partition's life was told
// stands beside its journal, so that no other agent takes it over either.

/// `invalid`, with the sentence about it, if the partition whose journal is at `position` is known
/// to be an old copy.
[[nodiscard]] Status not_an_old_copy(const Deployment& deployment, const Ownership& mine,
                                     std::uint64_t position);
/// Writes down what the life `life` was told, and says it.
[[nodiscard]] Status note_told_in_etcd(const Deployment& deployment, const Ownership& mine,
                                       Incarnation life, std::uint64_t position, const Told& told);
/// What a restored backup puts beside each journal.
[[nodiscard]] EtcdOp told_in_etcd(const EtcdAddress& flock, PartitionId partition,
                                  const Told& told);

/// accept_loss() for an agent with state in etcd. `dir` gets a copy of all that the flock has
/// there. `conflict`: the partition is served.
[[nodiscard]] Result<AcceptedLoss> accept_etcd_loss(const Deployment& deployment,
                                                    const DeployedNode& me, const StateDir& dir);

}  // namespace starling
