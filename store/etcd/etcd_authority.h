// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "agents/epoch_authority.h"
#include "store/etcd/etcd_client.h"

namespace starling {

struct EtcdAuthorityOptions {
  std::chrono::seconds ttl{5};  ///< of the lease
  /// Lives that never overlap (of one state directory, which only one process has at a time) have
  /// one holder: the next takes over from the last without waiting for its lease. Empty: a new one.
  std::string holder;
  EtcdOptions calls;
};

/// Epochs in etcd, as EtcdLeases has them. Calls are made by a thread of its own; the destructor
/// waits for the call under way and for a release(), at most EtcdOptions::call each.
class EtcdAuthority final : public EpochAuthority {
 public:
  explicit EtcdAuthority(EtcdAddress flock, const EtcdAuthorityOptions& options = {});
  ~EtcdAuthority() override;

  void acquire(PartitionId partition, Epoch expect, AgentId me) override;
  void renew(const Ownership& mine) override;
  void release(const Ownership& mine) override;
  [[nodiscard]] Duration holds_for(const Ownership& mine) override;
  [[nodiscard]] std::vector<EpochEvent> poll() override;

 private:
  struct Worker;
  std::unique_ptr<Worker> worker_;
};

/// A new name for EtcdAuthorityOptions::holder, not to be guessed.
[[nodiscard]] std::string new_holder();

}  // namespace starling
