// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "base/result.h"
#include "bus/flock.h"
#include "launch/deployment/deployment.h"
#include "store/hosting/flock_members.h"

namespace starling {

/// The members of a flock whose state is in etcd, for commands that look at them and change them.
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

/// The members of a flock, asked for every second by a thread of its own. Where etcd does not
/// answer the last ones stand; all agents, before it ever did and where the state is not in etcd.
class MemberWatch {
 public:
  /// For one host, or all of this machine (""). Asks once before it returns; a host without agents
  /// has nothing to ask, and no access to etcd. `flock` outlives it.
  MemberWatch(const Deployment& flock, const std::string& host);
  ~MemberWatch();
  MemberWatch(const MemberWatch&) = delete;
  MemberWatch& operator=(const MemberWatch&) = delete;

  /// How the first question went.
  [[nodiscard]] const Status& first() const noexcept { return first_; }
  [[nodiscard]] FlockMembers now() const;

 private:
  Status first_ = done();
  mutable std::mutex mutex_;
  FlockMembers members_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};
/// Executors always do.
[[nodiscard]] bool belongs(const DeployedNode& node, const FlockMembers& members);

/// agent-3, or 3; nothing if `text` names no agent of the flock.
[[nodiscard]] std::optional<AgentId> agent_named(const Deployment& flock, const std::string& text);

}  // namespace starling
