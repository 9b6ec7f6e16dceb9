// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agents/message.h"
#include "topology/partition.h"

namespace starling {

class Agent;

/// What one owner has in its ledger, piece by piece, and what it says of it in figures. Owners that
/// are down have no say.
struct LedgerView {
  PartitionId partition;
  NodeId owner;
  IndexRange gpus;
  std::vector<std::pair<AttemptId, Placement>> holds;  ///< reserved, committed or running
  Placement free;                                      ///< would be given away, ascending

  // Why others would not be.
  struct OfExecutor {
    NodeId executor;
    IndexRange gpus;
    bool answered = false;  ///< has said what runs there
    bool resting = false;   ///< its starts fail: nothing new is placed there for a while
  };
  std::vector<OfExecutor> executors;
  Placement bad;
  std::vector<IndexRange> drained;  ///< GPUs of drained servers

  /// By its ledger's own count, and as it tells those that ask.
  struct Figures {
    std::uint32_t free = 0, quarantined = 0, sick = 0, drained = 0;
    friend bool operator==(const Figures&, const Figures&) = default;
  };
  Figures counted, told;
};
[[nodiscard]] LedgerView ledger_view(const Agent& agent);

/// Other pieces, another signature, and no other way round.
[[nodiscard]] std::uint64_t ledger_signature(const Agent& agent);
/// Moves whenever something of that has moved, by the ledger's own version, in one life: cheap, for
/// every cycle. A check that does not rest on the version looks at the signature now and then.
[[nodiscard]] std::uint64_t ledger_moves(const Agent& agent);

/// The figures that follow from the pieces. `wrong`: the first piece that contradicts another, in
/// words; a GPU takes `most` holds.
[[nodiscard]] LedgerView::Figures recount(const LedgerView& ledger, std::uint32_t most,
                                          std::string& wrong);

}  // namespace starling
