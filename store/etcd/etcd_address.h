// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace starling {

/// How we prove to etcd who we are, and it to us. Files are read again for each new connection and
/// each new login, so their content may be exchanged at any time.
struct EtcdAccess {
  std::string ca = {};  ///< a file: what signs etcd's certificates; empty: what the system trusts
  std::string certificate = {}, key = {};  ///< files: ours; empty: none
  std::string user = {};                   ///< empty: no login
  std::string password = {};               ///< a file: the user's; a secret (base/secret_file.h)

  [[nodiscard]] bool empty() const {
    return ca.empty() && certificate.empty() && key.empty() && user.empty() && password.empty();
  }
};

/// Where the state of a flock lives in etcd, as people write it:
/// etcd://HOST:PORT[,HOST:PORT...]/NAME, or etcds:// for etcd with TLS
struct EtcdAddress {
  bool tls = false;
  std::vector<std::pair<std::string, std::string>> members;  ///< host and port of each
  std::string name;   ///< of the flock: flocks of different names share an etcd; may be missing
  EtcdAccess access;  ///< not a part of the text

  /// `invalid` says what is wrong.
  static Result<EtcdAddress> parse(const std::string& url);
  [[nodiscard]] static bool is_one(const std::string& text) {
    return text.starts_with("etcd://") || text.starts_with("etcds://");
  }
  /// Whether `access` fits: certificates and passwords go over TLS alone, a certificate has a key,
  /// a user a password, and every file can be read. `invalid` names the option (--etcd-...) that is
  /// wrong.
  [[nodiscard]] Status check_access() const;
  [[nodiscard]] std::string url() const;
};

struct TlsFiles;
[[nodiscard]] TlsFiles tls_files(const EtcdAccess& access);
/// Without what ends the line.
[[nodiscard]] Result<std::string> read_password(const EtcdAccess& access);

/// The keys of one partition. All are below etcd_root(), so that they can be removed together.
struct EtcdKeys {
  EtcdKeys(const EtcdAddress& flock, PartitionId partition);
  std::string epoch;      ///< its value: the owner's number; its revision: the epoch
  std::string alive;      ///< there as long as the owner's lease
  std::string hand_back;  ///< there while its own host asks for it back
  std::string head;       ///< which generation of the journal counts
  std::string journal;    ///< ends in '/', before generation and number
  std::string archive;    ///< ends in '/', before the number of a chunk
};
[[nodiscard]] std::string etcd_root(const EtcdAddress& flock);  ///< /starling/NAME/
/// The key behind all keys that begin with `prefix`.
[[nodiscard]] std::string behind(std::string prefix);

}  // namespace starling
