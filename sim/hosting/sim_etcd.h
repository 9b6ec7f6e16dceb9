// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "store/etcd/etcd_calls.h"

namespace starling {

/// What three members of etcd are together, in virtual time: revisions, transactions, reads of
/// earlier revisions, leases. Every call takes effect at once, and at the present instant.
class SimEtcd {
 public:
  explicit SimEtcd(std::function<Instant()> now) : now_(std::move(now)) {}

  Result<EtcdAnswer> txn(const EtcdTxn& txn);
  Result<EtcdPage> range(const std::string& first, const std::string& end, std::int64_t limit,
                         std::int64_t revision);
  Result<EtcdLease> grant(std::chrono::seconds ttl);
  Result<std::chrono::seconds> keep_alive(std::int64_t lease);
  Status revoke(std::int64_t lease);

  /// A new leader: it knows no lease's age, so each runs for its whole time again.
  void new_leader();
  /// Of the last write of `key`; 0: it is not there.
  [[nodiscard]] std::int64_t revision_of(const std::string& key);

 private:
  struct Version {
    std::int64_t revision = 0, lease = 0;
    std::shared_ptr<const std::string> value;  // null: removed
  };
  struct Lease {
    std::chrono::seconds ttl{0};
    Instant ends{};
    std::set<std::string> keys;
  };
  using Keys = std::map<std::string, std::vector<Version>>;

  void expire();
  void put(const std::string& key, std::shared_ptr<const std::string> value, std::int64_t lease,
           std::int64_t revision);
  [[nodiscard]] static const Version* as_of(const std::vector<Version>& versions,
                                            std::int64_t revision);
  [[nodiscard]] EtcdEntry entry(const std::string& key, const Version& version) const;
  [[nodiscard]] bool holds(const EtcdCompare& condition) const;
  [[nodiscard]] std::vector<EtcdEntry> apply(const EtcdOp& op, std::int64_t revision);

  std::function<Instant()> now_;
  Keys keys_;
  std::map<std::int64_t, Lease> leases_;
  std::int64_t revision_ = 1, next_lease_ = 1;
};

}  // namespace starling
