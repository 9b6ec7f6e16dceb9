// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "agents/quota/quota_room.h"
#include "agents/quota/share_out.h"
#include "agents/record.h"
#include "base/time.h"
#include "workload/queue_tree.h"

namespace starling {

/// The queues of a flock and what each home may use of them. The agent of partition 0 has one. An
/// escrow (O'Neil, "The escrow transactional method", ACM TODS 11(4), 1986): what is left of a
/// limit is handed out to homes in portions, within which they start jobs without asking. Pure: the
/// caller writes down what a call says is to be written, before anything leaves.
///
/// Guarantee: in whatever order asks and grants are lost, repeated or late, the portion that stands
/// here of a home is at least the one that the home goes by; and what is given never makes the
/// portions of a queue more than its `most`. Of a queue nothing is given before each home has said,
/// under a tree that has it, what it uses of it. The portions of all queues together are at most
/// GPUs and a quarter more: policies choose among a little more than fits.
class QuotaKeeper {
 public:
  /// What a home wants is forgotten so long after it was last heard, so that nothing is kept for
  /// one that is gone.
  static constexpr Duration kWantLasts = std::chrono::minutes(1);
  /// A home that was told that others wait is told again after this, if it has not asked since.
  static constexpr Duration kTellAgain = std::chrono::seconds(10);

  QuotaKeeper(std::size_t homes, std::uint64_t gpus);

  // Of earlier lives, in the order of the journal.
  void replay(const QueuesSet& set);
  void replay(const QuotaPortions& portions);
  /// The records that make it as it is now, for a snapshot: what homes want and what queues have
  /// had so far is not durable. The last QueuesSet has the tree in force; where some home does not
  /// know it yet, one of earlier versions may stand before it.
  [[nodiscard]] std::vector<Record> records() const;

  [[nodiscard]] const QueueTree& tree() const noexcept { return tree_; }

  /// Another tree, from an operator. Empty: it is in force, and the caller persists QueuesSet; or
  /// it is the one in force, and nothing changes (`changed` tells). Otherwise why not: it makes no
  /// sense, or its version is not the next one. Where homes have said a later version than the one
  /// here, this keeper has lost it: then whatever is above all of theirs is right.
  [[nodiscard]] std::string set(const QueueTree& tree, bool& changed);

  /// What a home asks. It counts if its stamp is the newest of that home; of a tree that is not the
  /// one in force only what it keeps counts. Repeated, it is answered once more. False: an older
  /// word, nothing changes.
  bool heard(AgentId home, const QuotaAsk& ask, Instant now);

  /// Gives out what there is to those that want it: share_out.h says by which rule. Homes that are
  /// told something: an answer to their ask, more than they had, or that others wait for what they
  /// do not use. Of each the caller persists portions_of(), all of them in one write, and then
  /// sends grant_for(). Ascending. To be called after what was heard, and each second while
  /// goes_on(); costs nothing where nothing is wanted. Without `gives` asks are answered and
  /// nothing is given.
  [[nodiscard]] std::vector<AgentId> share_out(Instant now, bool gives = true);
  [[nodiscard]] QuotaPortions portions_of(AgentId home) const;
  [[nodiscard]] QuotaGrant grant_for(AgentId home) const;
  /// Homes want more than they have, or have not answered that others do.
  [[nodiscard]] bool goes_on() const noexcept;

  /// The newest version that is known here or that a home has said.
  [[nodiscard]] std::uint64_t newest() const noexcept;
  /// A new life of it may know an older tree, or none.
  void doubt(AgentId home);
  /// Homes that have not said yet that they know the tree in force. Ascending.
  [[nodiscard]] std::vector<AgentId> unaware() const;
  /// Those that are to be told it: they do not know it, or have not asked since they are doubted or
  /// this keeper began. Ascending.
  [[nodiscard]] std::vector<AgentId> to_tell() const;
  /// It has asked since then.
  [[nodiscard]] bool has_said(AgentId home) const { return homes_[home.value].said; }
  /// For `starling queues`: every queue with what is below it, and the users of leaves that limit
  /// them, as many as a QueuesState holds; ascending.
  [[nodiscard]] std::vector<QueueUse> uses() const;

 private:
  struct Row {
    QuotaAccount account;
    QuotaRoom::Place place = 0;
    std::uint32_t may = 0, used = 0, want = 0, first = 0;
    std::int32_t priority = 0;
    Instant since{};
    bool scarce = false, over = false;  ///< the home has been told so since it asked
  };
  struct Home {
    QuotaStamp stamp;
    std::uint64_t tree = 0;   ///< of its newest ask
    std::vector<Row> rows;    ///< ascending
    std::size_t wanting = 0;  ///< rows that want more
    Instant asked{};          ///< when it was last heard
    bool unanswered = false, recalled = false;
    bool said = false;  ///< it has asked anew in this life of the keeper and its own
    Instant told{};     ///< when it was recalled
  };
  struct Open {
    std::vector<QuotaClaim> claims;
    std::vector<Row*> rows;  ///< of each claim
  };

  void adopt(const QueueTree& tree);
  void make_room(const QueueTree& tree);
  void replace(Home& home, std::vector<Row> rows);
  [[nodiscard]] std::vector<Row> rows_of(const QuotaAsk& ask, Instant now) const;
  [[nodiscard]] static std::vector<Row> still_wanted(const Home& home, std::vector<Row> rows);
  [[nodiscard]] Open open_claims(Instant now);
  void pass(Instant now);
  [[nodiscard]] std::uint64_t known_to_all() const noexcept;
  [[nodiscard]] bool is_unknown(const Row& row, std::uint64_t known) const;
  [[nodiscard]] bool tell(Home& home, AgentId id, const QuotaScarcity& scarcity,
                          std::uint64_t known, Instant now) const;
  [[nodiscard]] std::string bound_of(const Row& row) const;

  QueueTree tree_;
  std::map<std::string, std::uint64_t> since_;  ///< by queue: the version it has its accounts from
  std::vector<Home> homes_;                     ///< by AgentId
  std::uint64_t gpus_ = 0;
  QuotaRoom room_;
  std::optional<Instant> counted_;  ///< what queues have had so far, until then
  std::optional<Instant> shared_;   ///< the last look at claims
  bool changed_ = false;            ///< since then
};

}  // namespace starling
