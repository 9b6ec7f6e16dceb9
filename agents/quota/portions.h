// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agents/message.h"
#include "workload/queue_tree.h"

namespace starling {

/// What this home may use of the queues, and does. Pure bookkeeping; nothing is durable here: in a
/// new life it may have what runs (`begin`), until the keeper has answered. Without a tree nothing
/// is limited.
///
/// Guarantee: may() rises by grants of the newest stamp alone, and falls when this home asks.
class Portions {
 public:
  /// GPUs of jobs of this home in one account.
  struct Account {
    std::uint32_t may = 0;   ///< its portion
    std::uint32_t used = 0;  ///< of attempts that start, run or drain
    std::uint32_t let = 0;   ///< asked for by jobs that wait and are up for decision
    std::uint32_t back = 0;  ///< asked for by jobs that are kept back for its sake
    std::string bound = {};  ///< QuotaMay::bound of the newest grant
    bool scarce = false;     ///< QuotaMay::scarce of it
  };

  explicit Portions(Incarnation life) : stamp_{life, 0} {}

  [[nodiscard]] bool limits() const noexcept { return tree_.version > 0; }
  [[nodiscard]] const QueueTree& tree() const noexcept { return tree_; }
  /// A newer tree: every account may have what it uses, and the caller takes those that wait out of
  /// the waiting list and puts them up again. False: not a newer one.
  bool set_tree(QueueTree tree);
  /// The same for the attempts of an earlier life, once they have been counted.
  void begin();

  // Counting; the caller says what account_of() has said for the job. `gpus` of the whole gang.
  void run(const QuotaAccount& account, std::uint32_t gpus);
  void run_no_more(const QuotaAccount& account, std::uint32_t gpus);
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

  /// There is something to say to the keeper: jobs are kept back and no answer to the newest ask is
  /// there, the tree is new, or it has more than it needs of what others wait for.
  [[nodiscard]] bool has_to_ask() const;
  /// With a stamp of its own; from now on it may have what it keeps: what it uses, and where nothing
  /// is scarce what waits up for decision. `first` of each account is told by the caller's `front`:
  /// what the first job that is kept back asks for.
  struct Front {
    std::uint32_t gpus = 0;
    std::int32_t priority = 0;
    Duration waited{0};
  };
  [[nodiscard]] QuotaAsk ask(const std::map<QuotaAccount, Front>& front);
  /// Accounts that may have more than before, so that jobs are let in. Empty: an older stamp or tree,
  /// or nothing new.
  std::vector<QuotaAccount> heed(const QuotaGrant& grant);

  [[nodiscard]] const std::map<QuotaAccount, Account>& accounts() const noexcept {
    return accounts_;
  }

 private:
  QueueTree tree_;
  QuotaStamp stamp_;
  bool answered_ = true;   ///< the newest ask
  bool said_tree_ = true;  ///< an ask under this tree has been made
  std::map<QuotaAccount, Account> accounts_;
};

}  // namespace starling
