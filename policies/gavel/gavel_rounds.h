// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "scheduling/memory_bytes.h"

namespace starling {

/// A job alone, or two that share their GPUs, the smaller id first.
using GavelCombination = std::pair<JobId, std::optional<JobId>>;

/// Gavel's round mechanism: turns fractions of time into the jobs that run in the next round. A
/// job's priority on a type is its allocation over the part of the type's time that it has received
/// since the last reset; a reset carries over as a deficit what it should have received and did
/// not. Two jobs on the same GPUs have an account of their own, as long as they have an allocation.
class GavelRounds {
 public:
  /// A newcomer counts as having had half a `round` on every type, so that no job's part is 0.
  GavelRounds(std::size_t types, Duration round);

  void enter(JobId job);
  /// Those that had an allocation with it have that alone.
  void leave(JobId job);
  /// They ran on `type` for `time`.
  void receive(const GavelCombination& who, std::size_t type, Duration time);
  /// Everyone starts anew. `allocation` is by type; jobs that are not in it have none.
  void reset(Instant now, const std::map<GavelCombination, std::vector<double>>& allocation);
  /// Instant{}: none yet.
  [[nodiscard]] Instant last_reset() const noexcept { return last_reset_; }
  /// As before the first reset, but for the deficits of jobs alone.
  void begin_anew();
  [[nodiscard]] bool has_pairs() const;
  /// For Policy::save(), the accounts of `kept` alone.
  void save(MemoryWriter& out, Instant origin, const std::set<GavelCombination>& kept) const;
  /// Reads what save() wrote for as many types; what cannot be fails `in`.
  void restore(MemoryReader& in, Instant origin);

  /// How a combination stands on one type.
  struct Standing {
    double share = 0;     ///< of its time
    double received = 0;  ///< seconds since the last reset
    double deficit = 0;   ///< seconds that it was behind then; below 0: ahead
    double priority = 0;  ///< by which a round goes
  };
  /// By type; empty: it has no account, or no allocation yet.
  [[nodiscard]] std::vector<Standing> standing(const GavelCombination& who) const;
  /// Of two jobs, one of which is that one.
  [[nodiscard]] std::vector<GavelCombination> pairs_of(JobId job) const;

  struct Candidate {
    GavelCombination who;
    std::array<std::size_t, 2> members{};  ///< any numbers for the jobs; twice the same for one
    std::uint32_t gpus = 1;
    std::span<const double> speed;  ///< by type; 0: not there
    std::int32_t urgency = 0;       ///< what its user says: goes before all that Gavel reckons
  };
  struct Pick {
    std::size_t candidate;
    std::size_t type;
  };
  /// Type after type in `order`, most urgent and then best priority first, each job once, whoever
  /// fits in `gpus` left of the type; then, unless `allocated_only`, also jobs that have no
  /// allocation, alone.
  [[nodiscard]] std::vector<Pick> pick(std::span<const Candidate> candidates,
                                       std::vector<std::uint32_t> gpus,
                                       std::span<const std::size_t> order,
                                       bool allocated_only) const;

 private:
  struct Account {
    std::vector<double> received;  // seconds, by type
    std::vector<double> deficit;
    std::vector<double> allocation;  // empty: none yet
    [[nodiscard]] double share(std::size_t type) const {
      // Below this it is what an interior-point method leaves of a zero.
      return allocation.empty() || allocation[type] < 1e-9 ? 0 : allocation[type];
    }
  };
  [[nodiscard]] double priority(const Account& account, std::size_t type) const;
  std::size_t types_;
  double head_start_;
  std::map<GavelCombination, Account> accounts_;
  std::vector<double> type_time_;  // seconds of all jobs since the last reset
  Instant last_reset_{};
};

}  // namespace starling
