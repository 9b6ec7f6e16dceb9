#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/etcd_address.h"

namespace starling {

/// A key as etcd has it. Its revisions count all writes of the whole store.
struct EtcdEntry {
  std::string key, value;
  std::int64_t revision = 0;  ///< of its last write
  std::int64_t lease = 0;     ///< that it lives with; 0: none
};

/// One condition of a transaction.
struct EtcdCompare {
  /// The last write of `key` was `revision`; 0: there is no such key.
  static EtcdCompare revision_is(std::string key, std::int64_t revision);
  static EtcdCompare value_is(std::string key, std::string value);

  std::string key;
  bool by_value = false;
  std::int64_t revision = 0;
  std::string value;
};

/// One operation of a transaction.
struct EtcdOp {
  enum class Kind : std::uint8_t { put, get, erase };
  static EtcdOp put(std::string key, std::string value, std::int64_t lease = 0);
  static EtcdOp get(std::string key);
  static EtcdOp erase(std::string key);
  static EtcdOp erase_range(std::string first, std::string end);

  Kind kind = Kind::get;
  std::string key, end, value;
  std::int64_t lease = 0;
};

/// All of `then` if every condition holds, else all of `otherwise`.
struct EtcdTxn {
  std::vector<EtcdCompare> conditions;
  std::vector<EtcdOp> then, otherwise;
};

struct EtcdAnswer {
  bool held = false;                          ///< the conditions did
  std::int64_t revision = 0;                  ///< of the store, after it
  std::vector<std::vector<EtcdEntry>> found;  ///< one for each operation done; filled by get
};

struct EtcdPage {
  std::vector<EtcdEntry> entries;
  bool more = false;
  std::int64_t revision = 0;  ///< of the store when it was read
};

struct EtcdLease {
  std::int64_t id = 0;
  std::chrono::seconds ttl{0};  ///< etcd may give more than was asked for
};

struct EtcdOptions {
  std::chrono::milliseconds call{4000};     ///< a call has ended by then, one way or the other
  std::chrono::milliseconds attempt{1000};  ///< a member that has not answered by then is left
};

/// etcd 3.4 and later through its JSON gateway. One thread.
///
/// A member that does not answer, cannot answer now, or cannot be reached is left for the next one,
/// until the call's time is over. So a request may take effect more than once, and after an error
/// (`io`, with every member and its cause) also once or not at all, even later: write conditions so
/// that a second time does nothing, and recognise your own doing in `otherwise`. Reads are
/// linearizable. Errors that no other member would answer differently come back at once:
/// `not_found` (lease), `expired` (that revision is no longer kept), `busy` (the store is full),
/// `invalid`, and `io` for what etcd does not allow us (wrong password, missing permission), which
/// its administrator may mend at any time. After a wrong password nobody logs in for 2 s.
///
/// With a user in EtcdAccess the first call logs in, and whichever finds the login over.
class EtcdClient {
 public:
  explicit EtcdClient(const EtcdAddress& address, const EtcdOptions& options = {});
  ~EtcdClient();
  EtcdClient(EtcdClient&&) noexcept;
  EtcdClient& operator=(EtcdClient&&) noexcept;

  Result<EtcdAnswer> txn(const EtcdTxn& txn);
  /// At most `limit` of the keys in [first, end), by key, as of `revision` (0: now).
  Result<EtcdPage> range(const std::string& first, const std::string& end, std::int64_t limit,
                         std::int64_t revision = 0);
  /// One key; nothing: it is not there.
  Result<std::optional<EtcdEntry>> get(const std::string& key);
  /// How many keys were removed.
  Result<std::int64_t> erase_prefix(const std::string& prefix);

  Result<EtcdLease> grant(std::chrono::seconds ttl);
  /// What it lives for from now on; 0: it is gone.
  Result<std::chrono::seconds> keep_alive(std::int64_t lease);
  /// Removes the keys that live with it.
  Status revoke(std::int64_t lease);

 private:
  struct Members;
  std::unique_ptr<Members> members_;
};

}  // namespace starling
