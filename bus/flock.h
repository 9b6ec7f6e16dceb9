#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "agents/message.h"
#include "base/ids.h"
#include "base/result.h"

namespace starling {

/// One node that may take part.
struct Member {
  NodeId node;
  Role role = Role::unknown;
  std::string
      address;  ///< where it receives, tcp://host:port or ipc://path; empty: it calls and is never
                ///< called, answers go back over its own connection (command-line clients)
  std::string public_key;  ///< Z85; empty: no encryption, only between processes of one host
  friend bool operator==(const Member&, const Member&) = default;
};

/// Who belongs to the flock: the transport's allow-list and address book. Node ids, addresses and
/// keys are unique, and a node's id lies in the range of its role (agents/config.h).
using Flock = std::map<NodeId, Member>;

/// `flock.json`: {"flock": 1, "members": [{"node": 1, "role": "agent", "address": ..., "key": ...},
/// ...]}. Errors name the file, the member and what would be right.
[[nodiscard]] Result<Flock> read_flock(const std::filesystem::path& file);
[[nodiscard]] Status write_flock(const std::filesystem::path& file, const Flock& flock);
/// The rules of Flock above; `invalid` with the first one that is broken.
[[nodiscard]] Status check_flock(const Flock& flock);

}  // namespace starling
