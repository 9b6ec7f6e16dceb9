// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/epoch_authority.h"
#include "store/etcd/etcd_address.h"
#include "store/etcd/etcd_calls.h"
#include "store/hosting/flock_members.h"

namespace starling {

/// How things stand with a partition, for those that may take it over.
struct PartitionStanding {
  Ownership current;   ///< its owner is the host that served it last; epoch 0: none ever did
  std::string holder;  ///< whose lease runs; empty: none's
  std::optional<AgentId> wanted;  ///< the host that should serve it asks for it
};
struct FlockStanding {
  FlockMembers members;
  std::vector<PartitionStanding> partitions;
};
/// At one instant, in the order of `partitions`, of which etcd takes 42 at most.
[[nodiscard]] Result<FlockStanding> look_at_partitions(EtcdCalls& client, const EtcdAddress& flock,
                                                       std::span<const PartitionId> partitions);

/// The request of a partition's preferred host to have it back, which the host that serves it
/// grants. It is gone a few seconds after the last call, with the host if that dies, and at once
/// when destroyed.
class HandBackRequest {
 public:
  /// `clock` outlives it.
  HandBackRequest(std::unique_ptr<EtcdCalls> etcd, const EtcdAddress& flock, PartitionId partition,
                  AgentId host, const Clock& clock);
  ~HandBackRequest();
  HandBackRequest(const HandBackRequest&) = delete;
  HandBackRequest& operator=(const HandBackRequest&) = delete;

  /// Every second or more often. Where etcd does not answer, the next call tries again.
  void keep();

 private:
  std::unique_ptr<EtcdCalls> etcd_;
  std::string key_, host_;
  const Clock& clock_;
  std::optional<EtcdLease> lease_;
  Instant next_{};
};

}  // namespace starling
