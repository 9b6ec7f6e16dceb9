// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"
#include "interference/flows/gang_flows.h"
#include "interference/flows/max_min.h"
#include "interference/iteration.h"
#include "interference/models.h"
#include "interference/speed.h"

namespace starling {

/// What of a gang's traffic is its demand of the links that it shares.
enum class LinkDemand : std::uint8_t {
  peak,  ///< bytes / T_sync alone, as if its exchange never stopped: exchanges always collide
  mean,  ///< bytes / T alone: exchanges fall into one another's computing as far as there is room,
         ///< as CASSINI (NSDI 2024) and Muri (SIGCOMM 2022) arrange it
};

/// The gangs of one world that leave their racks, each a set of flows over the links between
/// switches (GangFlows), whose rates are max-min fair (MaxMin). Links carry kNetworkShare of their
/// bandwidth. Bytes and demand are those of the gang alone on its placement, so they are known when
/// it comes, and one solution is exact. With a share x below its demand
///
///   peak   an exchange takes bytes / x
///   mean   an iteration takes bytes / x at least
///
/// peak is what the worst, mean what the best timing of iterations makes of the same gangs. Gangs
/// are the caller's small numbers. The form outlives this.
class CoupledGangs {
 public:
  CoupledGangs(const IterationForm& form, LinkDemand demand);

  /// Begins to exchange. Without effect for one that stays in its rack.
  void join(std::uint32_t gang, JobId job, const JobProfile& profile, const Placement& placement);
  /// Ends. Without effect for one that is not in.
  void leave(std::uint32_t gang);
  /// The others whose share the last join() or leave() changed, ascending.
  [[nodiscard]] std::span<const std::uint32_t> changed() const noexcept;
  /// What the network gives a gang; null for one that stays in its rack, or crosses no shared link.
  [[nodiscard]] const NetworkShare* share(std::uint32_t gang) const noexcept;
  /// Bytes per second that links carry of it, for a gang with a share.
  [[nodiscard]] double rate(std::uint32_t gang) const noexcept { return rates_.rate(gang); }
  /// Of each link between switches, by LinkDirection, the part of what it can carry.
  [[nodiscard]] std::vector<double> loads() const;

 private:
  struct Gang {
    double bytes = 0;  // of an exchange, of each server or domain
    NetworkShare share;
  };
  void update(std::uint32_t gang);

  const IterationForm& form_;
  LinkDemand demand_;
  std::vector<double> capacities_;  // by LinkDirection
  GangFlows flows_;
  MaxMin rates_;
  std::vector<Gang> gangs_;
  bool moved_ = false;  // the last call changed anything
  std::vector<LinkUse> uses_;
};

/// A world in which gangs may be coupled beyond those on the same servers. Without a share rate()
/// answers as the full physics does, with even parts of a rack's uplinks.
class CoupledPhysics : public Physics {
 public:
  /// No gang is in yet, and this outlives it; null: gangs are not coupled.
  [[nodiscard]] virtual std::unique_ptr<CoupledGangs> gangs() const = 0;
  /// The rate of a gang that has that share of the network.
  [[nodiscard]] virtual double rate(const JobProfile& job, const Placement& placement,
                                    const Neighbours& beside, const NetworkShare& share) const = 0;
  using Physics::rate;
};

/// `--physics full:network=flows`, and with phases LinkDemand::mean: the full physics with the
/// links between switches as gangs share them, in place of an even share for each server. Gangs
/// within a rack have the rates of the full physics to the bit.
[[nodiscard]] std::unique_ptr<CoupledPhysics> make_flow_physics(
    const Topology& topology, const FullPhysicsOptions& options = {},
    LinkDemand demand = LinkDemand::peak);

}  // namespace starling
