// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "topology/topology.h"

namespace starling {

/// Seconds of one all-reduce among K replicas: two_s between two of them, and growth_s more for
/// each further one, or less (StepTime::bend).
struct ReduceTime {
  double two_s = 0;
  double growth_s = 0;
};

/// How a data-parallel job runs one step.
struct StepShape {
  double local_batch = 1;          ///< samples of one replica and gradient
  std::uint32_t accumulation = 0;  ///< gradients before the one that is exchanged
  std::uint32_t replicas = 1;      ///< each with a GPU
  std::uint32_t servers = 1;       ///< that these are on
  Tier tier = Tier::island;        ///< farthest that the exchange has to go

  /// Samples of one step, of all replicas.
  [[nodiscard]] double batch() const noexcept {
    return local_batch * replicas * (accumulation + 1);
  }
};

/// Seconds of a step as Pollux (OSDI 2021, section 3.2) has an agent fit them to what it measures:
///
///   T_grad = compute_s + sample_s * m                      m: local batch
///   T_sync = 0 for one replica, else two_s + growth_s * (K - 2)^bend, by tier,
///            on N > 1 servers + crowd_s * (K/N - 1)
///   T      = accumulation * T_grad + (T_grad^gamma + T_sync^gamma)^(1/gamma)
///
/// The paper has a pair of exchange constants for one server and one for several, and says that
/// racks would be a third pair; bend is 1 there, and crowd_s, what the replicas of a server cost
/// one another on their way out of it, 0. Plain data for one model on one kind of
/// machine; to carry times over to other machines see interference/iteration.h.
struct StepTime {
  double compute_s = 0;
  double sample_s = 0;
  ReduceTime server;   ///< island, scale-up domain, server
  ReduceTime rack;     ///< several servers of a rack
  ReduceTime network;  ///< several racks
  double crowd_s = 0;
  double bend = 1;   ///< in (0, 1]
  double gamma = 1;  ///< in [1, 10]

  [[nodiscard]] double grad_s(double local_batch) const noexcept {
    return compute_s + sample_s * local_batch;
  }
  [[nodiscard]] double sync_s(const StepShape& shape) const noexcept;
  [[nodiscard]] double step_s(const StepShape& shape) const noexcept;
  /// Samples per second.
  [[nodiscard]] double throughput(const StepShape& shape) const noexcept {
    return shape.batch() / step_s(shape);
  }
};

}  // namespace starling
