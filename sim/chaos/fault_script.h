// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/chaos/chaos.h"
#include "sim/chaos/chaos_knobs.h"
#include "sim/world/world.h"

namespace starling {

/// What goes wrong in one world, and until when. Its maker schedules its faults before the
/// world's first event, and the healing after the last; play_chaos() then asks what it needs to
/// know for its verdict. Outlives the world.
class FaultScript {
 public:
  virtual ~FaultScript() = default;
  /// Called between any two events, for faults that are to hit inside of protocol steps.
  virtual void between_events(World&) {}
  /// Every fault is over and undone: from now on all that was promised has to come true.
  [[nodiscard]] virtual bool healed() const noexcept = 0;
  [[nodiscard]] virtual const ChaosKnobs& knobs() const noexcept = 0;
  /// Those of machines that never come back.
  [[nodiscard]] virtual const std::set<ServerId>& servers_gone() const noexcept = 0;
  /// The servers are not those that the world began with.
  [[nodiscard]] virtual bool servers_changed() const noexcept { return false; }
  /// A partition that is not served by the member that should, in words; empty: none.
  [[nodiscard]] virtual std::string misplaced() const { return {}; }
  /// Number of faults that have happened.
  [[nodiscard]] virtual FaultCounts counts(World& world) const = 0;
  /// Kinds that are on, in their order.
  [[nodiscard]] virtual std::vector<std::string> active() const = 0;

  /// An agent that loses its state once all is over, and what it goes on from then.
  struct Loss {
    AgentId agent;
    World::Backup left;
  };
  [[nodiscard]] virtual const std::optional<Loss>& loss() const noexcept {
    static const std::optional<Loss> none;
    return none;
  }
  virtual void loss_was_accepted() {}
  /// Where that was the keeper of queues, which gives nothing out until then: an operator sets the
  /// last ones anew.
  virtual void say_queues_anew(World&) {}
};

/// What the network of `world` has done to frames, added to `counts`.
void count_frames(World& world, FaultCounts& counts);

/// For the healing. Of the manners that processes had, jobs that fail go on to fail.
void mend_manners(World& world, const Manners& had);
/// For the healing. The servers that were drained are used again. `drained` outlives the world.
void undo_drains(World& world, const std::set<ServerId>& drained);

}  // namespace starling
