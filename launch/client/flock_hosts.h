// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>

#include "base/result.h"
#include "bus/flock.h"
#include "launch/deployment/deployment.h"
#include "store/etcd/etcd_client.h"
#include "store/hosting/flock_members.h"

namespace starling {

/// The members of a flock whose state is in etcd, to be looked at and changed.
class FlockHosts {
 public:
  /// `unsupported` where the state is not in etcd.
  static Result<FlockHosts> open(const Deployment& flock);

  [[nodiscard]] Result<FlockMembers> read();
  /// The agents that are members now, and should serve something or stand by.
  [[nodiscard]] std::set<AgentId> all(const FlockMembers& members) const;
  /// Whether agent `host` has a seat of the partition.
  [[nodiscard]] bool may_serve(PartitionId partition, AgentId host) const;
  /// `now` with other hosts, balanced. `invalid` if a partition would be left without a host.
  [[nodiscard]] Result<FlockMembers> with(const FlockMembers& now, std::set<AgentId> hosts) const;
  [[nodiscard]] Status write(const FlockMembers& members);

 private:
  FlockHosts(EtcdAddress address, Flock seats, std::uint32_t agents);

  EtcdAddress address_;
  EtcdClient client_;
  Flock seats_;
  std::uint32_t agents_;
};

/// The first `agents` agents are members, and share all partitions.
[[nodiscard]] Status choose_members(const Deployment& flock, std::uint32_t agents);

}  // namespace starling
