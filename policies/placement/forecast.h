// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "policies/candidates/candidates_residents.h"
#include "policies/parts/service_history.h"

namespace starling {

/// How much longer jobs take of which no estimate is known, learned from those that run and have
/// ended here. People submit the same thing again and again, so a job is judged by its
/// recurring-job group, the jobs of the same user, queue and gang size: the logarithms of what
/// those took are averaged, and those that were submitted at about the same time count most. Jobs
/// of the group that still run count with twice what they have run, if that is more than was
/// expected. A job whose group has no history takes what the median of all took that had run as
/// long. That the past of their users tells how long jobs take, well enough to put short ones
/// first, is from QSSF (Hu et al., SC'21, arXiv 2109.01313).
class Forecast {
 public:
  static constexpr std::size_t kKept = 32;       ///< ended jobs of a group, and running ones
  static constexpr std::size_t kGroups = 4'096;  ///< beyond, those not heard of for longest go
  static constexpr double kNear_s = 7'200;       ///< submitted this far apart counts half
  static constexpr double kFar = 0.1;            ///< what any job of the group counts at least
  static constexpr double kPrior = 0.05;         ///< what the median of all counts
  static constexpr double kUnknown_s = 900;  ///< of one that has not run, until enough ended here
  static constexpr double kLeast_s = 300;    ///< of those that have outlived all others

  /// `by_group`: by recurring-job group; otherwise the median of all is all that counts.
  explicit Forecast(bool by_group) : by_group_(by_group) {}

  /// `now`: of the decide() that saw the moves.
  void follow(std::span<const Residents::Move> moves, Instant now);
  /// Seconds at speed 1 that a job of the group still takes after `attained` of them. `order`: its
  /// own, if it runs, for it says nothing of itself.
  [[nodiscard]] double left(std::uint64_t group, Instant submitted, double attained, Instant now,
                            std::uint64_t order = ~0ULL) const;
  /// Quantile `u`, in [0, 1), of what left() is one figure of: what is expected of the whole job,
  /// times how wrong that was, when they started, of others that took longer than it has so far.
  [[nodiscard]] double draw(std::uint64_t group, Instant submitted, double attained, Instant now,
                            double u, std::uint64_t order = ~0ULL) const;
  /// Enough jobs have ended to draw from.
  [[nodiscard]] bool draws() const noexcept { return all_.knows(); }
  [[nodiscard]] std::size_t groups() const noexcept { return groups_.size(); }
  /// For Policy::save(). Of the groups those heard of last, at most kSaved jobs.
  static constexpr std::size_t kSaved = 10'000;
  void save(MemoryWriter& out, Instant origin) const;
  /// Reads what save() wrote; what cannot be fails `in`. Jobs that ran then and are not among the
  /// first moves that follow() sees have gone meanwhile.
  void restore(MemoryReader& in, Instant origin);
  /// Grows with all that it learns.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

 private:
  struct Ended {
    std::uint64_t order = 0;
    Instant submitted;
    double work_s = 0;
    double log_work = 0;  ///< of at least a second
  };
  struct Running {
    Instant submitted;
    Instant since;             ///< had it run without a break
    double expected = 0;       ///< of the whole job, when it started
    bool had_history = false;  ///< has_history() then
  };
  /// The jobs of one recurring_group_of().
  struct RecurringGroup {
    std::vector<Ended> ended;                  ///< the last kKept, oldest first
    std::map<std::uint64_t, Running> running;  ///< by order
    std::uint64_t touched = 0;
  };
  void came(const Residents::Move& move, Instant now);
  void ended(const Residents::Move& move, Instant now);
  /// What is known of a job that starts now.
  [[nodiscard]] Running started(const Residents::Move& move, Instant now) const;
  /// Null: it is not kept.
  [[nodiscard]] const Running* running(std::uint64_t group, std::uint64_t order) const;
  /// A job of the group has ended here.
  [[nodiscard]] bool has_history(std::uint64_t group) const;
  void forget_some();
  void forget_gone();
  [[nodiscard]] double of_all(double attained) const;

  bool by_group_;
  ServiceHistory all_;
  /// Total / expected when it started, of jobs whose group had no history and of
  /// others.
  std::array<ServiceHistory, 2> misses_;
  std::unordered_map<std::uint64_t, RecurringGroup> groups_;
  std::uint64_t moves_ = 0, version_ = 0;
  std::map<std::uint64_t, std::uint64_t> ran_before_;  ///< restored, not seen yet: order, group
};

}  // namespace starling
