// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "agents/epoch_authority.h"

namespace starling {

/// For a flock on one machine, where no agent takes over: partition p belongs to agent p, at epoch
/// 1. That no second process is that agent is for its state directory to ensure.
class StaticAuthority final : public EpochAuthority {
 public:
  void acquire(PartitionId partition, Epoch expect, AgentId me) override;
  void renew(const Ownership& mine) override;
  void release(const Ownership& mine) override;
  [[nodiscard]] Duration holds_for(const Ownership& mine) override;
  [[nodiscard]] std::vector<EpochEvent> poll() override;

 private:
  [[nodiscard]] Ownership current(PartitionId partition) const;

  std::map<PartitionId, Ownership> owners_;
  std::vector<EpochEvent> events_;
};

}  // namespace starling
