// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agents/asker.h"
#include "agents/message.h"
#include "base/ids.h"
#include "base/result.h"

namespace starling {

/// Where a node may be, and how it proves that it is it.
struct SeatAddress {
  std::string address, public_key;  ///< as in Member
  /// Further keys that are its own while its key is exchanged (docs/security.md): a peer with one
  /// is let in as this seat. It is not expected to have one where it is called.
  std::vector<std::string> also = {};
  friend bool operator==(const SeatAddress&, const SeatAddress&) = default;
};

/// One node that may take part.
struct Member {
  NodeId node;
  Role role = Role::unknown;
  std::string
      address;  ///< where it receives, tcp://host:port or ipc://path; empty: it calls and is never
                ///< called, answers go back over its own connection (command-line clients)
  std::string public_key;  ///< Z85; empty: no encryption, only between processes of one host
  /// Further places where the same node may live: an agent whose partition another host takes over
  /// is the same node there. Seat 0 is the one above, seat i the (i-1)th of these. Empty for
  /// clients.
  std::vector<SeatAddress> standby = {};
  std::vector<std::string> also = {};  ///< of seat 0, as in SeatAddress
  Asker holder = {};                   ///< of clients: the user who has its key
  friend bool operator==(const Member&, const Member&) = default;

  [[nodiscard]] std::uint32_t seats() const {
    return static_cast<std::uint32_t>(standby.size()) + 1;
  }
  [[nodiscard]] SeatAddress seat(std::uint32_t i) const {
    return i == 0 ? SeatAddress{address, public_key, also} : standby.at(i - 1);
  }
};

/// Which nodes belong to the flock: the transport's allow-list and address book. Node ids,
/// addresses and keys are unique, and a node's id lies in the range of its role (agents/config.h).
using Flock = std::map<NodeId, Member>;

/// `flock.json`: {"flock": 1, "members": [{"node": 1, "role": "agent", "address": ..., "key": ...,
/// "standby": [{"address": ..., "key": ..., "also": ...}], "also": [KEY, ...]}, ...]}; clients may
/// have "user": NAME, and then "operator": true. Errors name the file, the member and what would be
/// right.
[[nodiscard]] Result<Flock> read_flock(const std::filesystem::path& file);
/// Replaces the file as a whole.
[[nodiscard]] Status write_flock(const std::filesystem::path& file, const Flock& flock);
/// The rules of Flock above; `invalid` with the first one that is broken.
[[nodiscard]] Status check_flock(const Flock& flock);

}  // namespace starling
