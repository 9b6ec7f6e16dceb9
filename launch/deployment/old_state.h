// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agents/record.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/state_dir.h"

namespace starling {

/// That the state of a node is an old copy, in the file `told` of its state directory, or beside
/// its journal in etcd (launch/deployment/etcd_loss.h): written when a peer said so, or when a
/// backup was restored. The node does not start until a newer state has been put there, or the loss
/// is accepted (accept_loss.h).
struct Told {
  Incarnation life;           ///< of this node, that is known elsewhere
  std::uint64_t written = 0;  ///< records of that life's journal; 0: not said
  std::string by;             ///< the node that knows it
  bool restored = false;      ///< by a backup: what happened since is not known
  std::uint64_t at = 0;       ///< how far the copy itself had come when it was told; 0: unknown
};

/// A journal at `written` is the one that was told, or as old: what a copy has written since it
/// began does not make it news.
[[nodiscard]] bool is_old_copy(const Told& told, std::uint64_t written);

[[nodiscard]] std::string to_text(const Told& told);
/// Nothing if the text is not what to_text() wrote.
[[nodiscard]] std::optional<Told> parse_told(const std::string& text);

[[nodiscard]] Result<std::optional<Told>> read_told(const StateDir& dir);
[[nodiscard]] Status write_told(const StateDir& dir, const Told& told);
[[nodiscard]] Status forget_told(const StateDir& dir);

/// The one sentence about it: which node, what it has, what is known and by which node, what would
/// be lost, and the command that goes on on purpose.
[[nodiscard]] std::string old_copy_text(const DeployedNode& me, const std::filesystem::path& flock,
                                        Incarnation life, std::uint64_t written, const Told& told);

/// The journal in `dir`, the only one of this node. `invalid` also where it lost records
/// (store/sqlite/sqlite_journal.h), has gone although an earlier life wrote to it, or is known to
/// be an old copy: then the text is the sentence above.
[[nodiscard]] Result<std::unique_ptr<Journal>> open_own_journal(const DeployedNode& me,
                                                                const std::filesystem::path& flock,
                                                                const StateDir& dir);

}  // namespace starling
