// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "agents/epoch_authority.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/scaled_clock.h"
#include "launch/deployment/state_dir.h"
#include "store/etcd/etcd_client.h"
#include "store/hosting/partition_takeover.h"

namespace starling {

/// A partition that is this process's, and the right to it.
struct PartitionState : TakenPartition {
  std::unique_ptr<EpochAuthority> authority;
};

/// Opens the partition of agent `me` of the flock in `flock`, whose journal is in `dir`.
[[nodiscard]] Result<PartitionState> open_local_partition(const DeployedNode& me,
                                                          const std::filesystem::path& flock,
                                                          const StateDir& dir);

/// Takes a partition in etcd that was at `seen` and whose lease has lapsed, or that none ever
/// had, for the agent `host`; one try. `conflict`, `expired`: another was faster. `invalid`:
/// also where the state is an old copy, or the flock has other servers than `deployment` knows.
[[nodiscard]] Result<PartitionState> take_over(const Deployment& deployment, const Ownership& seen,
                                               AgentId host, const StateDir& dir);

/// Every heartbeat, and again and again while the lease has lapsed: renews it. `fenced` once
/// another process owns the partition. A lease that has only lapsed goes into the log: then nothing
/// is said (may_speak_until) until etcd has confirmed it again.
[[nodiscard]] Status keep_partition(PartitionState& partition);
/// The end of the lease by `clock`, as far as is known now; kNever where there is none.
[[nodiscard]] Instant may_speak_until(const PartitionState& partition, const ScaledClock& clock);

}  // namespace starling
