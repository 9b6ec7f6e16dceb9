// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "topology/placement.h"
#include "topology/topology.h"
#include "workload/allocation.h"
#include "workload/speed_health.h"

namespace starling {

/// What a speed depends on besides the placement: the job's own part. Built from a JobSpec.
struct JobProfile {
  std::string model;  ///< catalogue name; unknown names read as "generic"
  std::uint32_t gpus = 1;
  double cpus_per_gpu = 0;              ///< 0: the model's own need
  std::uint32_t parameter_servers = 0;  ///< 0: gradients are all-reduced
  std::uint64_t straggler_seed = 0;  ///< which workers are slow, if Physics has stragglers; 0: none
  std::uint32_t asked = 0;           ///< GPUs of the size that it asks for; 0: that of `gpus`
  /// Of parameter_servers, at the size that it asks for; 0: in proportion.
  std::uint32_t asked_servers = 0;
  std::uint32_t running_servers = 0;  ///< as its allocation says; 0: parameter_servers
  double server_cpus = 0;             ///< that each of them occupies; 0: they cost nothing
  std::uint32_t batch = 0;            ///< as PaceQuestion::batch

  /// Parameter servers that there are while it runs.
  [[nodiscard]] std::uint32_t servers() const noexcept {
    return running_servers > 0 ? running_servers : parameter_servers;
  }
};

/// Others that run now, as far as they share a server or a link with the job that is asked about.
struct Neighbour {
  JobProfile job;
  Placement placement;
};
using Neighbours = std::vector<Neighbour>;

/// relative = speed / speed alone on the best placement of the same size and fastest type: in (0,
/// 1]. 1/relative is the slowdown. `uncertainty` is a standard deviation of `relative`.
struct Speed {
  double relative = 1;
  double uncertainty = 0;
};

/// Twice the GPUs, twice the speed: where nothing is known of what a job's exchange costs.
[[nodiscard]] inline double linear_scaling(const JobProfile& job) noexcept {
  return job.asked == 0 ? 1 : static_cast<double>(job.gpus) / job.asked;
}

/// A speed that was measured: what SpeedModel::observe takes.
struct SpeedSample {
  JobProfile job;
  Placement placement;
  Neighbours beside;
  double relative = 1;
};

/// How fast would this job run there, beside those? What a policy may ask; it never sees Physics.
/// `Speed::uncertainty` says how little is known of this placement: explorers ask for that.
/// Pure but for observe(). Deterministic: equal questions, equal answers as long as version() is
/// the same.
class SpeedModel {
 public:
  virtual ~SpeedModel() = default;
  [[nodiscard]] virtual Speed speed(const JobProfile& job, const Placement& placement,
                                    const Neighbours& beside) const = 0;
  /// Speed with `job.gpus` GPUs in units of that with `job.asked`, both on their best placement.
  [[nodiscard]] virtual double scaling(const JobProfile& job) const { return linear_scaling(job); }
  /// Progress of a job that runs by `how`, in that of the size asked for alone on its best
  /// placement: pace() (interference/pace/pace.h), with what is known of noise, averaged over a
  /// training. A model that knows nothing of allocations says what the job does as it asks.
  [[nodiscard]] virtual double pace(const JobProfile& job, const Placement& placement,
                                    const Neighbours& beside, const Allocation& /*how*/) const {
    return scaling(job) * speed(job, placement, beside).relative;
  }
  /// A measured relative speed, to learn from.
  virtual void observe(const JobProfile&, const Placement&, const Neighbours&,
                       double /*measured*/) {}
  /// Grows when observe() has changed answers enough for those who keep some to ask again.
  [[nodiscard]] virtual std::uint64_t version() const noexcept { return 0; }
  [[nodiscard]] virtual SpeedHealth health() const { return {}; }
  /// What observe() has taught it, to be kept where it outlives the process; empty: nothing.
  [[nodiscard]] virtual std::vector<std::byte> state() const { return {}; }
  /// Takes that up again. `invalid` says what is wrong with the bytes; then nothing has changed.
  [[nodiscard]] virtual Status restore(std::span<const std::byte>) { return done(); }
};

/// Where what a speed model has learned outlives the process. Nothing safe depends on it: what was
/// not kept has to be learned again.
class SpeedMemory {
 public:
  virtual ~SpeedMemory() = default;
  virtual void keep(std::span<const std::byte> state) = 0;
};

/// How fast it really runs: the world's side of the same question, so each can stand in for the
/// other.
class Physics {
 public:
  virtual ~Physics() = default;
  /// In (0, 1]; service received per second of wall time.
  [[nodiscard]] virtual double rate(const JobProfile& job, const Placement& placement,
                                    const Neighbours& beside) const = 0;
  /// What rate() is to be multiplied by where the job has more or fewer GPUs than it asks for: as
  /// SpeedModel::scaling.
  [[nodiscard]] virtual double scaling(const JobProfile& job) const { return linear_scaling(job); }
  /// As SpeedModel::pace(), of what is true here.
  [[nodiscard]] virtual double pace(const JobProfile& job, const Placement& placement,
                                    const Neighbours& beside, const Allocation& /*how*/) const {
    return rate(job, placement, beside) * scaling(job);
  }
  /// False when rate() is 1 whatever the placement and the neighbours, so callers may skip asking.
  [[nodiscard]] virtual bool varies() const noexcept = 0;
  /// Time between launch and the first iteration: image, start, checkpoint restore.
  [[nodiscard]] virtual double startup_s(const JobProfile& job) const = 0;
};

/// Service received per second, whatever the job runs by: the one question of the simulated world
/// and of emulated processes.
[[nodiscard]] inline double progress_rate(const Physics& physics, const JobProfile& job,
                                          const Placement& placement, const Neighbours& beside,
                                          const Allocation& how) {
  if (!how.as_asked()) return physics.pace(job, placement, beside, how);
  return physics.rate(job, placement, beside) * physics.scaling(job);
}
/// The same as a policy expects it.
[[nodiscard]] inline double progress_rate(const SpeedModel& model, const JobProfile& job,
                                          const Placement& placement, const Neighbours& beside,
                                          const Allocation& how) {
  if (!how.as_asked()) return model.pace(job, placement, beside, how);
  return model.scaling(job) * model.speed(job, placement, beside).relative;
}

}  // namespace starling
