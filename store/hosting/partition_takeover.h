// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/epoch_authority.h"
#include "agents/record.h"

namespace starling {

// The life of a partition whose epochs others may have: how it is taken, and kept. In daemons and
// in the simulation alike (sim/hosting).

/// A partition that is this process's: its epoch, its journal, and what earlier lives wrote.
struct TakenPartition {
  Ownership mine;
  std::unique_ptr<Journal> journal;
  std::vector<Record> recovered;
  std::uint64_t found = 0;  ///< how far the journal was when it was read
};

/// Gives `taken` a journal that was just opened, and what earlier lives wrote there. The errors of
/// opening and of recover().
[[nodiscard]] Status use_journal(TakenPartition& taken, Result<std::unique_ptr<Journal>> journal);

struct TakeoverTools {
  /// Opens the journal of what has been granted; `progress` is to be called while it is read.
  std::function<Result<std::unique_ptr<Journal>>(const Ownership& mine,
                                                 std::function<void()> progress)>
      open;
  const Clock& clock;
  std::function<void(Duration)> pause;  ///< waits
};

/// One try to take a partition that was at `seen`, and whose lease has lapsed, or that none ever
/// had, for the agent `host`. The lease is renewed while the journal is read: not more often than
/// every half second, and never by itself, so that one that is stuck loses it. `conflict`,
/// `expired`: another was faster; else the journal's errors, and what was granted has been
/// released.
[[nodiscard]] Result<TakenPartition> take_partition(EpochAuthority& authority,
                                                    const Ownership& seen, AgentId host,
                                                    const TakeoverTools& tools);

/// Every heartbeat, and again and again while the lease has lapsed: renews it. `fenced` once
/// another process owns the partition. A lease that has only lapsed, or runs again, is told to
/// `say`.
[[nodiscard]] Status keep_epoch(EpochAuthority& authority, const Ownership& mine,
                                const std::function<void(const std::string&)>& say);

}  // namespace starling
