// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agents/message.h"
#include "agents/record.h"
#include "base/time.h"
#include "workload/queue_tree.h"

namespace starling {

/// The queues of a flock and what each home may use of them. The agent of partition 0 has one. An
/// escrow (O'Neil, "The escrow transactional method", ACM TODS 11(4), 1986): what is left of a limit
/// is handed out to homes in portions, within which they start jobs without asking. Pure: the caller
/// writes down what a call says is to be written, before anything leaves.
///
/// Guarantee: in whatever order asks and grants are lost, repeated or late, the portion that stands
/// here of a home is at least the one that the home goes by; and what is given never makes the
/// portions of a queue more than its `most`. Of a queue nothing is given before each home has said,
/// under a tree that has it, what it uses of it. The portions of all queues together are at most
/// GPUs and a quarter more: policies choose among a little more than fits.
class QuotaKeeper {
 public:
  QuotaKeeper(std::size_t homes, std::uint64_t gpus);

  // Of earlier lives, in the order of the journal.
  void replay(const QueuesSet& set);
  void replay(const QuotaPortions& portions);
  /// The records that make it as it is now, for a snapshot.
  [[nodiscard]] std::vector<Record> records() const;

  [[nodiscard]] const QueueTree& tree() const noexcept { return tree_; }

  /// Another tree, from an operator. Empty: it is in force, and the caller persists QueuesSet; or it
  /// is the one in force, and nothing changes (`changed` tells). Otherwise why not: it makes no sense,
  /// or its version is not the next one.
  [[nodiscard]] std::string set(const QueueTree& tree, bool& changed);

  /// What a home asks. It counts if its stamp is the newest of that home; of a tree that is not the
  /// one in force only what it keeps counts. False: an older word, nothing changes.
  bool heard(AgentId home, const QuotaAsk& ask, Instant now);

  /// Gives out what there is to those that want it: guarantees first, the one that has the least of
  /// its own before others, then by portion and use so far over weight. Homes whose portions have
  /// changed, or are to be told that others wait for what they do not use; of each the caller persists
  /// portions_of() (first) and sends grant_for(). Ascending.
  [[nodiscard]] std::vector<AgentId> share_out(Instant now);
  [[nodiscard]] QuotaPortions portions_of(AgentId home) const;
  [[nodiscard]] QuotaGrant grant_for(AgentId home) const;

  /// Homes that have not said yet that they know the tree in force. Ascending.
  [[nodiscard]] std::vector<AgentId> unaware() const;
  /// For `starling queues`: every queue with what is below it, then the users of leaves that limit
  /// them; ascending.
  [[nodiscard]] std::vector<QueueUse> uses() const;

 private:
  struct Home {
    QuotaPortions given;           ///< durable
    std::vector<QuotaWant> wants;  ///< of its newest ask in this life of the keeper
    bool recalled = false;         ///< told that others wait, and has not asked since
  };
  QueueTree tree_;
  std::map<std::string, std::uint64_t> since_;  ///< by queue: the version of the tree it came with
  std::vector<Home> homes_;                     ///< by AgentId
  std::uint64_t gpus_ = 0;
  std::map<std::string, double>
      used_;                          ///< GPU seconds of leaves, decayed with a half-life of a day
  Instant counted_ = Instant::min();  ///< until then
};

}  // namespace starling
