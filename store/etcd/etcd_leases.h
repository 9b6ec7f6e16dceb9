// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agents/epoch_authority.h"
#include "store/etcd/etcd_address.h"
#include "store/etcd/etcd_calls.h"

namespace starling {

/// What an authority asks etcd, call by call, and what it makes of the answers: an EpochAuthority
/// whose calls wait. EtcdAuthority makes them in a thread of its own, a simulation in a task.
///
/// The key of a partition names its owner and stays; the revision of its last write is the epoch. A
/// second key lives with the owner's lease. Both are written by one compare-and-set. The lease is
/// counted from the sending of the renewal, and told as lost when nine tenths of it are over.
///
/// acquire(), renew() and release() belong to one thread; holds_for() and poll() to any.
class EtcdLeases final : public EpochAuthority {
 public:
  /// `etcd` and `clock` outlive it. `holder`: as EtcdAuthorityOptions says.
  EtcdLeases(EtcdCalls& etcd, EtcdAddress flock, std::chrono::seconds ttl, std::string holder,
             const Clock& clock);

  void acquire(PartitionId partition, Epoch expect, AgentId me) override;
  void renew(const Ownership& held) override;
  void release(const Ownership& held) override;
  [[nodiscard]] Duration holds_for(const Ownership& mine) override;
  [[nodiscard]] std::vector<EpochEvent> poll() override;

 private:
  /// What the two keys of a partition say.
  struct Standing {
    Ownership current;
    std::int64_t alive_revision = 0;  ///< 0: no lease runs
    std::int64_t alive_lease = 0;
    std::string holder;
  };
  /// A partition that was granted here.
  struct Grip {
    Ownership mine;
    EtcdLease lease;
    Instant valid_until;
    bool lapsed = false;  // and told
  };

  [[nodiscard]] static Standing standing(PartitionId partition, const EtcdAnswer& answer);
  [[nodiscard]] Instant valid_until(const EtcdLease& lease, Instant sent) const;
  [[nodiscard]] Result<Standing> look(PartitionId partition);
  [[nodiscard]] std::optional<EtcdLease> restore_lease(const Ownership& held);
  void tell(EpochEvent event);
  void granted(const Ownership& mine, const EtcdLease& lease, Instant sent);
  void watch_leases();

  EtcdCalls& etcd_;
  EtcdAddress flock_;
  std::chrono::seconds ttl_;
  std::string holder_;
  const Clock& clock_;

  std::mutex mutex_;  // over all that follows
  std::vector<EpochEvent> events_;
  std::map<PartitionId, Grip> grips_;  // changed by the calls alone, but for `lapsed`
};

}  // namespace starling
