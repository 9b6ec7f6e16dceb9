// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "store/hosting/flock_members.h"

namespace starling {

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

}  // namespace starling
