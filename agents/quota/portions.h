// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/time.h"
#include "workload/queue_tree.h"

namespace starling {

/// What this home may use of the queues, and does. Pure bookkeeping; nothing is durable here: in a
/// new life it may have what runs (`begin`), until the keeper has answered. Without a tree, or
/// under one without queues, nothing is limited.
///
/// Guarantee: may() rises by grants of the newest stamp alone, and falls when this home asks; where
/// an account is scarce it falls with each job that ends, too, so that the keeper says who is next,
/// and where there is too much in use with each attempt. A new tree or life begins as if there
/// were, until the keeper has answered.
class Portions {
 public:
  /// GPUs of jobs of this home in one account.
  struct Account {
    std::uint32_t may = 0;       ///< its portion
    std::uint32_t used = 0;      ///< of attempts that start, run or drain
    std::uint32_t let = 0;       ///< asked for by jobs that wait and are up for decision
    std::uint32_t back = 0;      ///< asked for by jobs that are kept back for its sake
    std::string bound = {};      ///< QuotaMay::bound of the newest grant
    bool scarce = false;         ///< QuotaMay::scarce of it
    bool over = false;           ///< QuotaMay::over of it
    bool recalled = false;       ///< scarce since the newest ask
    std::uint32_t returned = 0;  ///< of `may`, since the newest ask
    std::uint64_t told = 0;      ///< all that it needs, as the newest ask said
  };
  /// While jobs are kept back the home asks again so long after its newest ask, even if
  /// has_to_ask() is false: a grant may be lost, and a keeper in a new life knows of no wants. The
  /// keeper forgets those that are older than QuotaKeeper::kWantLasts.
  static constexpr Duration kAskAgain = std::chrono::seconds(10);

  explicit Portions(Incarnation life) : stamp_{life, 0} {}

  [[nodiscard]] bool limits() const noexcept { return tree_.limits(); }
  [[nodiscard]] const QueueTree& tree() const noexcept { return tree_; }
  /// A newer tree: every account may have what it uses, and the caller takes those that wait out of
  /// the waiting list and puts them up again. Where a job has another account under it than before
  /// the caller counts it anew (before: no more; after: again), and says begin(). False: not a
  /// newer one.
  bool set_tree(QueueTree tree);
  /// The same for the attempts of an earlier life, once they have been counted.
  void begin();

  // Counting; the caller says what account_of() has said for the job. `gpus` of the whole gang.
  // What is taken off has been counted before, in the same account.
  void run(const QuotaAccount& account, std::uint32_t gpus);
  /// `waits`: the job does so again, and keeps its room, but where there is too much in use.
  void run_no_more(const QuotaAccount& account, std::uint32_t gpus, bool waits = false);
  void let(const QuotaAccount& account, std::uint32_t gpus);
  void let_no_more(const QuotaAccount& account, std::uint32_t gpus);
  void keep_back(const QuotaAccount& account, std::uint32_t gpus);
  void keep_back_no_more(const QuotaAccount& account, std::uint32_t gpus);

  /// There is room for one more that waits to be up for decision.
  [[nodiscard]] bool may_wait(const QuotaAccount& account, std::uint32_t gpus) const;
  /// An attempt of so many GPUs may start, of a job that has `now_used` of them (it is resized).
  [[nodiscard]] bool may_start(const QuotaAccount& account, std::uint32_t gpus,
                               std::uint32_t now_used = 0) const;
  /// How many GPUs of its account a job waits with: what it asks, or where its queue can never have
  /// so many, as many as that and it can run with.
  [[nodiscard]] std::uint32_t asked_by(const JobSpec& spec) const;

  /// There is something to say to the keeper: no answer to the newest ask is there, the tree is
  /// new, more is needed than it knows, others wait for what this home has and does not need, or
  /// have just begun to. The caller paces asks: each has a stamp, and an answer to an older one is
  /// none.
  [[nodiscard]] bool has_to_ask() const;
  /// Jobs are kept back: ask again at times (kAskAgain).
  [[nodiscard]] bool keeps_back() const;
  /// Accounts that have become scarce since the newest ask. The caller keeps back those of their
  /// jobs that are up for decision before it asks, so that the keeper says whose turn it is.
  /// Ascending.
  [[nodiscard]] std::vector<QuotaAccount> recalled() const;
  /// With a stamp of its own; from now on it may have what it keeps: what it uses and what waits up
  /// for decision. `front` of each account is told by the caller: what the first job that is kept
  /// back asks for. Rows are ascending.
  struct Front {
    std::uint32_t gpus = 0;
    std::int32_t priority = 0;
    Duration waited{0};
  };
  [[nodiscard]] QuotaAsk ask(const std::map<QuotaAccount, Front>& front);
  /// Accounts that may have more than before, so that jobs are let in. Empty: an older stamp or
  /// tree, or nothing new.
  std::vector<QuotaAccount> heed(const QuotaGrant& grant);
  /// The keeper has heard of a stamp that is newer than all of this life: of one that an old copy
  /// of the journal does not have. True: so this asks anew, with a newer one yet.
  bool catch_up(const QuotaStamp& heard);

  [[nodiscard]] const std::map<QuotaAccount, Account>& accounts() const noexcept {
    return accounts_;
  }

 private:
  QueueTree tree_;
  QuotaStamp stamp_;
  bool answered_ = true;  ///< the newest ask; false: none has been made under this tree
  std::map<QuotaAccount, Account> accounts_;
};

}  // namespace starling
