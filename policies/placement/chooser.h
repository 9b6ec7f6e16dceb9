// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "policies/placement/decision_point.h"

namespace starling {

/// Sees every decision of a placement policy that leaves a choice (but see co_allocates() and
/// makes_room()), with the scores that the policy's Scorer gives its options, and makes it: to
/// search, to explore, to record, to imitate. It works over any policy. With one, shared places are
/// listed also where the best free place slows no job (SharedPlaces::if_slowed).
class Chooser {
 public:
  virtual ~Chooser() = default;
  /// Before the first decision of a call of decide().
  virtual void begin(const DecisionContext&) {}
  /// The index of an option. `scores`: by option; the largest is what the policy would do.
  [[nodiscard]] virtual std::size_t choose(const DecisionPoint& point,
                                           std::span<const double> scores) = 0;
  /// It is also asked whether a gang is co-allocated or waits; else the largest score decides that.
  [[nodiscard]] virtual bool co_allocates() const { return false; }
  /// It is also asked whether jobs stop for another, or one is resized (RoomMaker); else they do.
  /// Of a job that runs `point.request.look` says nothing.
  [[nodiscard]] virtual bool makes_room() const { return false; }
  /// As Scorer's.
  virtual void passed_over(const QueueEntry&) {}
};

}  // namespace starling
