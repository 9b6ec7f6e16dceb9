// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "agents/quota/portions.h"
#include "agents/step/job.h"
#include "base/ids.h"
#include "base/time.h"

namespace starling {

/// Where a job stands among those of its account that wait: the more urgent first, then the older.
struct QuotaPlace {
  std::int32_t priority = 0;
  std::uint64_t order = 0;
  JobId job;
  friend bool operator<(const QuotaPlace& a, const QuotaPlace& b) noexcept {
    return std::tie(b.priority, a.order) < std::tie(a.priority, b.order);
  }
};

/// What a home knows of queues: its portions, which of its jobs wait within and beyond them, and
/// what it has to say to their keeper. Every job is counted where it enters and leaves a list, and
/// nowhere else (HomeState). Costs nothing where there are no queues.
class HomeQuota {
 public:
  /// Jobs of one account that wait.
  struct Line {
    std::set<QuotaPlace> let;   ///< those up for decision, and those in a round
    std::set<QuotaPlace> back;  ///< those kept back for its sake
  };
  /// How soon the keeper is to hear of what has changed.
  enum class Urge : std::uint8_t { none, soon, now };

  /// `sizes`: the policy starts elastic jobs with fewer workers than they ask for, too.
  explicit HomeQuota(Incarnation life, bool sizes = true) : portions(life), sizes_(sizes) {}

  Portions portions;
  std::set<QuotaAccount> changed;  ///< whose lines are to be looked at
  bool look = false;               ///< at those, and whether there is something to say

  // The talk with the keeper
  Urge urge = Urge::none;
  bool open = false;  ///< the newest ask has no answer yet
  QuotaStamp asked;   ///< of that
  Instant asked_at = Instant::min();
  Instant turned_at = Instant::min();  ///< when what others wait for was last given back unused
  Instant repeat = kNever;             ///< when to say it again
  Duration backoff{0};
  Instant timer = kNever;  ///< when to look, whatever has changed

  void say(Urge how) noexcept {
    urge = urge < how ? how : urge;
    look = true;
  }
  [[nodiscard]] bool is_due(Instant now) const noexcept { return look || timer <= now; }

  // Counting
  void let(const Job& job);
  void let_no_more(const Job& job);
  void keep_back(const Job& job);
  /// Nothing if it is not kept back.
  void keep_back_no_more(const Job& job);
  /// With the GPUs of its open attempt (Job::placement).
  void run(const Job& job);
  void run_no_more(const Job& job, bool waits = false);  ///< as in Portions

  /// What policies see of a job that waits: one that may be larger than it asks to be is shown
  /// without that, for they would wait for room that its queue may not have. Valid while the job
  /// is.
  [[nodiscard]] const JobSpec* shown(Job& job) const;
  /// How many GPUs of its account a job waits with (Portions::asked_by).
  [[nodiscard]] std::uint32_t asked_by(const JobSpec& spec) const;
  /// Its account may have so many at the utmost. Another is kept back, in no line, until there are
  /// other queues.
  [[nodiscard]] bool can_ever(const Job& job) const;
  /// No job of its account goes before it, and there is room for it.
  [[nodiscard]] bool lets(const Job& job) const;
  /// An attempt of so many GPUs may start, of a job that has `now_used` of them.
  [[nodiscard]] bool may_start(const Job& job, std::size_t gpus, std::size_t now_used = 0) const;
  /// Jobs that wait within the account are more than it may have.
  [[nodiscard]] bool is_over(const QuotaAccount& account) const;
  /// Jobs are up for decision that use nothing yet of what others wait for.
  [[nodiscard]] bool holds_scarce() const;
  /// It has more than its jobs use and ask for up for decision.
  [[nodiscard]] bool holds_idle() const;
  /// Jobs are kept back beside room that is too small for the first of them.
  [[nodiscard]] bool has_idle_room(const QuotaAccount& account) const;
  [[nodiscard]] QuotaAccount account_of(const Job& job) const {
    return starling::account_of(portions.tree(), *job.spec);
  }
  /// Null: no job of it waits.
  [[nodiscard]] const Line* line_of(const QuotaAccount& account) const;
  [[nodiscard]] const std::map<QuotaAccount, Line>& lines() const noexcept { return lines_; }

 private:
  void drop_if_empty(std::map<QuotaAccount, Line>::iterator line);

  bool sizes_;
  std::map<QuotaAccount, Line> lines_;
};

}  // namespace starling
