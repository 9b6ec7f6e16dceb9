// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "interference/contention.h"
#include "interference/speed.h"
#include "topology/topology.h"

// What users choose among: physics of the world, and what policies may ask. interference/models/
// makes them; they are declared here because folders that come before it ask for one.

namespace starling {

/// `--physics trace`: every job runs for the duration its trace gives, wherever it is placed.
[[nodiscard]] std::unique_ptr<Physics> make_trace_physics();
struct FullPhysicsOptions {
  /// Stragglers: every worker of a job is slowed by 1 + sigma * z, z of a Rayleigh distribution
  /// (mean 1.25), and the gang by its slowest. By JobProfile::straggler_seed, so always the same
  /// for a job.
  double straggler_sigma = 0;
  /// How jobs slow one another on a GPU; null: fitted_contention(). See
  /// interference/pairs/measured_contention.h for pairs as they were measured.
  std::shared_ptr<const Contention> contention = {};
  /// A size other than asked for has another batch, whose samples make another progress: as the
  /// model's noise says (interference/goodput/profiles.h), averaged over a training. On each GPU it
  /// is taken to have the own batch of the profile. Models without one, and parameter servers,
  /// whose batch stays, are as without this.
  bool goodput = false;
};

/// `--physics full`: Pollux' iteration-time form over five tiers, host contention and shared links;
/// see interference/iteration.h. startup_s is 10 s for image and start, and up to 20 s more to
/// restore the checkpoint.
[[nodiscard]] std::unique_ptr<Physics> make_full_physics(const Topology& topology,
                                                         const FullPhysicsOptions& options = {});
/// The analytic speed model: the same form as the full physics, without its noise and hidden
/// factors.
[[nodiscard]] std::unique_ptr<SpeedModel> make_analytic_speed(const Topology& topology);
/// The world's own rates: what a policy would know at best. Only for comparisons; `physics` must
/// outlive it.
[[nodiscard]] std::unique_ptr<SpeedModel> make_true_speed(const Physics& physics);
/// Every placement is as good as every other: what belongs to `--physics trace`.
[[nodiscard]] std::unique_ptr<SpeedModel> make_flat_speed();

}  // namespace starling
