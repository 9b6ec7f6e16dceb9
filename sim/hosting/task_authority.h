// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/hosting/etcd_way.h"
#include "store/etcd/etcd_leases.h"

namespace starling {

/// EtcdAuthority with a task in the place of its thread: calls are made in their order, and none
/// waits for them.
class TaskAuthority final : public EpochAuthority {
 public:
  TaskAuthority(HostMachine& host, std::unique_ptr<EtcdCalls> etcd, const EtcdAddress& flock,
                const std::string& holder);
  /// Waits for the call under way and for a release().
  ~TaskAuthority() override;

  void acquire(PartitionId partition, Epoch expect, AgentId me) override;
  void renew(const Ownership& mine) override;
  void release(const Ownership& mine) override;
  [[nodiscard]] Duration holds_for(const Ownership& mine) override;
  [[nodiscard]] std::vector<EpochEvent> poll() override;

 private:
  struct Worker;
  std::shared_ptr<Worker> worker_;  // shared with its task, which may end after this
};

}  // namespace starling
