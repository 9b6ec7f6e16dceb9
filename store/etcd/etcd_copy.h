// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "store/etcd/etcd_client.h"

namespace starling {

/// What a flock has in etcd, in a file: all keys as of one revision of the store, so journals and
/// archives of all partitions fit together. Not what lives with leases.
struct EtcdCopy {
  struct Partition {
    std::uint64_t position = 0;  ///< of its journal (Journal::position())
    std::uint64_t life = 0;      ///< the last that its journal knows
  };
  std::int64_t revision = 0;
  std::uint64_t keys = 0;
  std::map<PartitionId, Partition> partitions;
};

/// Writes the file, mode 0600, durably; it must not exist. The flock may be at work.
[[nodiscard]] Status copy_from_etcd(const EtcdAddress& flock, const std::filesystem::path& file);
/// Reads all of it: every entry, chunk and record. `invalid` says what cannot be read.
[[nodiscard]] Result<EtcdCopy> check_etcd_copy(const std::filesystem::path& file);

/// Puts all of it below the flock's name, where nothing may be yet, but for what an earlier call
/// left unfinished; then `more`, whose keys are whole. `conflict`: there is a flock. `unsupported`:
/// the store has seen fewer writes than that which the copy is from, so epochs would begin again
/// below those that executors have seen.
[[nodiscard]] Status copy_to_etcd(const EtcdAddress& flock, const std::filesystem::path& file,
                                  const std::vector<EtcdOp>& more);

}  // namespace starling
