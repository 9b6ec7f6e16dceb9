// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/etcd/etcd_address.h"
#include "store/etcd/http_connection.h"

namespace starling {

/// Why etcd did not do what it was asked.
struct EtcdRefusal {
  std::int64_t code = 0;  ///< gRPC's; 0: not known
  std::string why;

  static EtcdRefusal of(const HttpConnection::Answer& answer);
  /// A new login is needed: that alone may mend it.
  [[nodiscard]] bool login_is_over() const;
  /// It is about the one who asks, not about what was asked.
  [[nodiscard]] bool about_access() const;
};

/// What one client's requests prove their user by: a token of etcd's, that any member takes until
/// it is over.
class EtcdLogin {
 public:
  EtcdLogin() = default;
  explicit EtcdLogin(const EtcdAddress& address);

  [[nodiscard]] bool has_user() const { return !access_.user.empty(); }
  /// Logs in at `member` where there is no token and it takes one. `io`: the member cannot be
  /// asked; any other error: no member will take this login, and for 2 s none is asked.
  Status ensure(HttpConnection& member, std::chrono::milliseconds patience);
  [[nodiscard]] const std::string& token() const { return token_; }  ///< empty without a user
  void forget() { token_.clear(); }
  /// For people: what etcd says, and what its administrator can do about it.
  [[nodiscard]] std::string explain(const EtcdRefusal& refused) const;

 private:
  EtcdAccess access_;
  std::string prefix_;  ///< of the keys that are used
  std::string token_;
  std::optional<Error> refused_;
  std::chrono::steady_clock::time_point not_before_;
};

}  // namespace starling
