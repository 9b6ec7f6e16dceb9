// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// A copy of a flock, in a folder: its configuration, keys (with the modes of the files) and
/// topology; of each agent and executor the journal as of one moment, and its life. Not the logs,
/// the output of jobs, the speeds that were learned, nor the places of users ('keys grant'), whose
/// files are theirs. Of flocks on one machine; what agents have in
/// etcd is in the file kEtcdCopy, as of one revision.
///
/// Agents are copied before executors. So whatever an executor did by the moment of its copy on the
/// word of something that the agent's copy lacks, it knows that there is more, and a restored agent
/// is told.
struct BackedUp {
  struct Node {
    std::string name;
    std::uint64_t records = 0;  ///< ever written, at the moment of the copy (Journal::position())
    std::uint64_t life = 0;
  };
  std::string made;  ///< when, as text
  std::vector<Node> nodes;
  std::size_t files = 0;
};

inline constexpr const char* kEtcdCopy = "etcd.copy";

/// Copies the flock in `flock`, which may be at work, into the new folder `to`: all of it or
/// nothing. `unsupported` says which flocks cannot be backed up.
[[nodiscard]] Result<BackedUp> back_up(const std::filesystem::path& flock,
                                       const std::filesystem::path& to);

/// Reads all of a backup: each file is as it was written, each record can be read. `invalid` names
/// the first that is not.
[[nodiscard]] Result<BackedUp> verify_backup(const std::filesystem::path& backup);

struct Restored {
  BackedUp backup;
  std::vector<std::string> old_copies;  ///< agents of which more is, or may be, known
  std::filesystem::path aside;          ///< where what was in `flock` is now; empty: nothing was
};

/// Verifies a backup and makes the flock in `flock` anew from it. A stopped flock that is there is
/// put aside first, and tells whether anything has happened since: agents to whose journals nothing
/// has been added go on as if nothing had been; the others start only once the loss is accepted.
[[nodiscard]] Result<Restored> restore_backup(const std::filesystem::path& backup,
                                              const std::filesystem::path& flock);

}  // namespace starling
