// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "store/etcd/etcd_address.h"
#include "store/etcd/etcd_calls.h"

namespace starling {

struct EtcdOptions {
  std::chrono::milliseconds call{4000};     ///< a call has ended by then, one way or the other
  std::chrono::milliseconds attempt{1000};  ///< a member that has not answered by then is left
};

/// Of calls about leases: a renewal that has failed is followed by the next one soon, and a process
/// that ends waits for it.
inline constexpr EtcdOptions kEpochCalls{std::chrono::milliseconds(2000),
                                         std::chrono::milliseconds(700)};

/// etcd through its JSON gateway. A member that does not answer, cannot answer now, or cannot be
/// reached is left for the next one, until the call's time is over; the error then names every
/// member and its cause. Errors that no other member would answer differently come back at once,
/// among them `io` for what etcd does not allow us (wrong password, missing permission), which its
/// administrator may mend at any time. After a wrong password there is no login for 2 s.
///
/// With a user in EtcdAccess the first call logs in, and whichever finds the login over.
class EtcdClient final : public EtcdCalls {
 public:
  explicit EtcdClient(const EtcdAddress& address, const EtcdOptions& options = {});
  ~EtcdClient() override;
  EtcdClient(EtcdClient&&) noexcept;
  EtcdClient& operator=(EtcdClient&&) noexcept;

  Result<EtcdAnswer> txn(const EtcdTxn& txn) override;
  Result<EtcdPage> range(const std::string& first, const std::string& end, std::int64_t limit,
                         std::int64_t revision = 0) override;
  Result<EtcdLease> grant(std::chrono::seconds ttl) override;
  Result<std::chrono::seconds> keep_alive(std::int64_t lease) override;
  Status revoke(std::int64_t lease) override;

  /// How many keys were removed.
  Result<std::int64_t> erase_prefix(const std::string& prefix);

 private:
  struct Members;
  std::unique_ptr<Members> members_;
};

}  // namespace starling
