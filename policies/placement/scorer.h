// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "policies/placement/decision_point.h"
#include "scheduling/memory_bytes.h"

namespace starling {

/// When places on GPUs of running jobs are listed, where GPUs may be shared.
enum class SharedPlaces : std::uint8_t {
  never,
  always,
  if_slowed,    ///< only if the best place on free GPUs slows a job down, or there is none
  if_none_free  ///< only if there is no place on free GPUs
};

/// Which options a Scorer wants to be asked about. Constant.
struct PlacementRules {
  bool own_places = false;  ///< Scorer::place() in the place of Candidates' free GPUs
  SharedPlaces shared = SharedPlaces::if_slowed;
  bool waits = true;       ///< waiting is an option although there is a place
  bool forecasts = false;  ///< it asks RemainingTimes
  bool evens_out = false;  ///< before anything starts, jobs go to the emptiest partitions
  bool by_fit = false;     ///< gangs fit as fit= says, here and elsewhere, not by free GPUs alone
  /// score() also scores co-allocating a gang. Else a gang is co-allocated where it can be: score
  /// 0, and waiting Scorer::kLast.
  bool co_allocates = false;
  /// The least part of a job's best speed that a place must add, for policies that know speeds:
  /// their jobs go where they are fastest. None: OverflowRouting moves them, by free GPUs.
  std::optional<double> minimum_gain = std::nullopt;
};

/// What a Scorer says of a decision beside its scores.
struct Scored {
  /// The option that it put first to find out how it is: figures alone would not have.
  std::optional<std::size_t> explores = std::nullopt;
  /// Why the best option is not what the figures alone say, for people; lives as long as the
  /// program. Empty: nothing to say.
  std::string_view remark = {};
};

/// What makes one placement policy differ from another: how it scores each option of a job. The
/// option with the largest score is taken, the first of equals, unless a Chooser says otherwise.
/// Deterministic. Serves one partition.
class Scorer {
 public:
  /// An option that is not to be taken while there is any other.
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  /// One to be taken only where all others are kNever.
  static constexpr double kLast = std::numeric_limits<double>::lowest();

  virtual ~Scorer() = default;
  [[nodiscard]] virtual PlacementRules rules() const = 0;
  /// What it may see of the view; what is returned may refer to the scorer.
  [[nodiscard]] virtual View seen(const View& given) { return given; }
  /// Before the first job of a call of decide().
  virtual void begin(const DecisionContext&) {}
  /// Scores by option, in the order of `point.options`; no unit, larger is better. Also
  /// called where the decision is forced.
  virtual Scored score(const DecisionPoint& point, std::span<double> scores) = 0;
  /// What figure that is, for people: "1 / (1 + slowdown)". Empty: it tells options apart by no
  /// figure, and none is shown.
  [[nodiscard]] virtual std::string_view score_is() const { return {}; }
  /// Where rules().own_places: the place on GPUs that it would take. `point` has no options yet.
  [[nodiscard]] virtual std::optional<Placement> place(const DecisionPoint&) {
    return std::nullopt;
  }
  /// The job of that decision, of which score() said `scored`, starts on these GPUs. Those may be
  /// of another option than the best, where a Chooser took it, or others than its option's, where
  /// that lacks other means. Not called of a job that waits or goes elsewhere.
  virtual void took(const DecisionPoint&, const Scored& /*scored*/, const Placement&) {}
  /// Whether a refusal stands for all that look like the job, until something changes.
  [[nodiscard]] virtual bool alike(const JobView&) const { return true; }
  /// Called of every job that waits on, in the order in which they are asked about.
  virtual void passed_over(const QueueEntry&) {}
  /// After the last decision of a call of decide().
  virtual void end(const View&, Candidates&) {}
  /// Policy::summary().
  [[nodiscard]] virtual std::span<const float> summary() const { return {}; }

  // What it has learned beyond forecasts: as Policy::save(), restore() and learned().
  virtual void save(MemoryWriter&, Instant /*origin*/) const {}
  virtual void restore(MemoryReader&, Instant /*origin*/) {}
  [[nodiscard]] virtual std::uint64_t learned() const noexcept { return 0; }
};

}  // namespace starling
