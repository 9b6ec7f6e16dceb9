// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace starling {

/// Which agent owns a partition, and by which fencing token. Epoch 0: no agent ever did.
struct Ownership {
  PartitionId partition;
  Epoch epoch;
  AgentId owner;
  friend bool operator==(const Ownership&, const Ownership&) = default;
};

// clang-format off
/// It is `mine` from now on: after acquire(), or again after a lease that had only lapsed.
struct EpochGranted { Ownership mine; };
/// Not acquired. `current` is the owner as far as known; `why` is `conflict` (its lease runs), `expired` (the
/// epoch that was expected is not the current one) or `io` (the authority could not be asked).
struct EpochRefused { Ownership current; Error why; };
/// `mine` may be taken by others, or has been: then `current` is at a higher epoch, and for good. At the same
/// epoch only the lease has lapsed; a renewal that still succeeds is told as EpochGranted.
struct EpochLost { Ownership mine; Ownership current; };
// clang-format on
using EpochEvent = std::variant<EpochGranted, EpochRefused, EpochLost>;

/// Compare-and-set on "which agent owns partition p, at which epoch". Nothing here waits: answers
/// come out of poll(), in the order of the calls. Epochs of a partition only rise, and each is
/// granted once.
///
/// A lease decides when a takeover may happen, never whether a command or a write counts: that is
/// for what compares epochs (executors, and the journal whose writes name the epoch).
class EpochAuthority {
 public:
  virtual ~EpochAuthority() = default;
  /// Granted if the partition is at epoch `expect` and no lease of another holder runs.
  virtual void acquire(PartitionId partition, Epoch expect, AgentId me) = 0;
  /// Every heartbeat. Silent while all is well.
  virtual void renew(const Ownership& mine) = 0;
  /// Lets others acquire it at once. No answer.
  virtual void release(const Ownership& mine) = 0;
  /// How long from now `mine` cannot become another owner's, as far as is known here, on a clock
  /// that goes on while the machine sleeps: from then on its owner says nothing more. Not above
  /// zero: a lease that has lapsed, or what was not granted here. Duration::max(): there is no
  /// lease.
  [[nodiscard]] virtual Duration holds_for(const Ownership& mine) = 0;
  /// What has been answered since the last call.
  [[nodiscard]] virtual std::vector<EpochEvent> poll() = 0;
};

}  // namespace starling
