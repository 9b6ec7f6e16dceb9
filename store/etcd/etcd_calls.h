// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

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

/// What is asked of etcd (3.4 and later), over any way there. One thread, or one task of a
/// simulation.
///
/// A request may take effect more than once, and after an error (`io`) also once or not at all,
/// even later: write conditions so that a second time does nothing, and recognise your own doing in
/// `otherwise`. Reads are linearizable. Other errors: `not_found` (lease), `expired` (that revision
/// is no longer kept), `busy` (the store is full), `invalid`.
class EtcdCalls {
 public:
  virtual ~EtcdCalls() = default;

  virtual Result<EtcdAnswer> txn(const EtcdTxn& txn) = 0;
  /// At most `limit` of the keys in [first, end), by key, as of `revision` (0: now).
  virtual Result<EtcdPage> range(const std::string& first, const std::string& end,
                                 std::int64_t limit, std::int64_t revision = 0) = 0;
  virtual Result<EtcdLease> grant(std::chrono::seconds ttl) = 0;
  /// What it lives for from now on; 0: it is gone.
  virtual Result<std::chrono::seconds> keep_alive(std::int64_t lease) = 0;
  /// Removes the keys that live with it. A lease that is gone is revoked.
  virtual Status revoke(std::int64_t lease) = 0;

  /// One key; nothing: it is not there.
  Result<std::optional<EtcdEntry>> get(const std::string& key);
};

}  // namespace starling
