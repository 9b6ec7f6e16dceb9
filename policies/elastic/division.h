// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/memo.h"
#include "scheduling/memory_bytes.h"
#include "scheduling/packing.h"
#include "scheduling/policy.h"

namespace starling {

/// One job as a division sees it.
struct ElasticShare {
  const JobView* job = nullptr;
  std::uint32_t least = 1, most = 1;  ///< workers
  double left_s = 0;                  ///< work that remains, at the size it asks for
  std::uint32_t now = 0;              ///< workers that it runs on
  std::uint32_t workers = 0;          ///< the answer; 0: waits
  bool called = false;  ///< a gang over partitions that is to come home: `job` has its GPUs here
};

/// What there is to be divided.
struct ElasticCapacity {
  double gpus = 0, cpus = 0;

  /// Are there GPUs and CPUs for so many more workers? If so they are taken. `all`: of the
  /// partition.
  [[nodiscard]] bool take(const ElasticCapacity& all, const JobSpec& job, std::uint32_t workers);
};

/// All of it, with nothing taken.
[[nodiscard]] ElasticCapacity capacity_of(const Occupancy& gpus);

/// The larger part of the GPUs or CPUs that so many workers of this job are of all, in units of
/// 1e-9, so that sums of equal parts are equal.
[[nodiscard]] std::int64_t dominant_share(const ElasticCapacity& all, const JobSpec& job,
                                          std::uint32_t workers);

/// What a division may look at.
struct ElasticCall {
  const View& view;
  const Shape& shape;
  const Occupancy& empty;  ///< the partition with everything free
};

/// What distinguishes one elastic policy from another: how many workers each job gets, where they
/// go, and what is worth stopping a job for. ElasticPolicy does the rest.
class Division {
 public:
  virtual ~Division() = default;

  /// A round begins: the next divide() is of everything, among all jobs that may be changed.
  virtual void begin_round(const ElasticCall&) {}
  /// Divides `left`, of a partition of `all`. `shares` are by priority, then in order of
  /// submission; each `workers` starts as what the job is sure of and comes out no less, 0 or in
  /// [least, most].
  virtual void divide(const ElasticCall& call, const ElasticCapacity& all, ElasticCapacity left,
                      std::vector<ElasticShare>& shares) = 0;
  /// Where so many workers go.
  [[nodiscard]] virtual std::optional<Placement> find_workers(const ElasticCall& call,
                                                              const Occupancy& gpus,
                                                              const JobSpec& job,
                                                              std::uint32_t workers) const = 0;
  /// The place of a share of so many workers or, where that is not to be had, fewer; nothing: none
  /// that the job can have. Unless overridden the most workers for which find_workers() has a
  /// place.
  [[nodiscard]] virtual std::optional<Placement> choose(const ElasticCall& call,
                                                        const Occupancy& gpus,
                                                        const ElasticShare& share) const;
  /// There is a place for so many workers of a job only, fewer than the last divide() gave it; 0:
  /// for none. What that leaves may be divided once more, among those that got something.
  virtual void fell_short(JobId, std::uint32_t /*workers*/) {}
  /// How the job runs on those GPUs; as it asks unless overridden.
  [[nodiscard]] virtual Allocation allocation(const ElasticCall&, const JobSpec&,
                                              const Placement&) const {
    return {};
  }
  /// At every call of the policy, first: what was measured since the last one.
  virtual void observe(const View&) {}
  /// As of Policy. Reads last: unless `in` is whole after it, nothing has changed.
  virtual void save(MemoryWriter&) const {}
  virtual void restore(MemoryReader& /*in*/) {}
  [[nodiscard]] virtual std::uint64_t learned() const noexcept { return 0; }
  virtual void learn() {}
  [[nodiscard]] virtual std::vector<std::string> explain(JobId) const { return {}; }
  /// Policy::explain_now(). `share`: of the job, whose `workers` are those that it has. `all`: of
  /// the partition.
  [[nodiscard]] virtual std::vector<std::string> explain_now(const ElasticCall&,
                                                             const ElasticCapacity& /*all*/,
                                                             const ElasticShare& /*share*/) const {
    return {};
  }
  /// Is it worth stopping a running job to give it `share.workers`, more than it has?
  [[nodiscard]] virtual bool worth_a_restart(const ElasticCall& call,
                                             const ElasticShare& share) = 0;

  /// Seconds that the job gains within `horizon_s` by running on those GPUs, whatever partitions
  /// they are in, rather than on its own; stopping is not counted. Unless overridden as if twice as
  /// many were twice as fast.
  [[nodiscard]] virtual double gained_s(const ElasticCall& call, const ElasticShare& share,
                                        const Placement& to, double horizon_s) const;
  /// Seconds that a stop costs the job.
  [[nodiscard]] virtual double restart_s(const JobSpec& job) const;

  /// Does it change the allocation of jobs that keep their workers, too? Then at rounds such jobs
  /// run on by what allocation() says, after a restart if it is another.
  [[nodiscard]] virtual bool reallocates() const { return false; }

  /// Does it know speeds? Then running jobs also get more workers between rounds, keep what they
  /// have where fewer would be slower, and at rounds move to a better place.
  [[nodiscard]] virtual bool knows_speeds() const { return false; }
  /// Then: would the job be no sooner done with `share.workers` than with what it has?
  [[nodiscard]] virtual bool no_sooner(const ElasticCall&, const ElasticShare&) { return false; }
  /// Then: is it worth stopping the job to run it there?
  [[nodiscard]] virtual bool worth_a_move(const ElasticCall&, const ElasticShare&,
                                          const Placement&) const {
    return false;
  }
};

/// How long the rest of jobs takes, by the speed model. Speeds are remembered by kind of job.
class ElasticSpeeds {
 public:
  /// Seconds with so many workers, on the placement that the empty partition has for them by
  /// `division`, and run as it says.
  [[nodiscard]] double rest_s(const Division& division, const ElasticCall& call,
                              const ElasticShare& share, std::uint32_t workers);
  /// On that placement and by that allocation, whatever runs beside it.
  [[nodiscard]] static double rest_on_s(const View& view, const ElasticShare& share,
                                        const Placement& placement, const Allocation& how);

 private:
  /// Model, GPUs per worker, workers that it asks for and has, CPUs, GPU types.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, double,
                         std::vector<std::string>, RunDetails>;
  Memo<Key, double> speeds_;
};

/// Where so many workers of a job go in the empty partition, remembered.
class ElasticPlaces {
 public:
  [[nodiscard]] std::optional<Placement> of(const Division& division, const ElasticCall& call,
                                            const JobSpec& job, std::uint32_t workers);

 private:
  /// Workers, GPUs per worker, CPUs, GPU types.
  using Key = std::tuple<std::uint32_t, std::uint32_t, Demand, std::vector<std::string>>;
  Memo<Key, std::optional<Placement>> places_;
};

/// The smallest number of servers that hold the workers evenly: of those that can, the ones with
/// the fewest free GPUs, ties to the lowest index. Nothing if no number does. With `type` only
/// servers of that GPU type.
[[nodiscard]] std::optional<Placement> place_evenly(const Occupancy& gpus, const JobSpec& job,
                                                    std::uint32_t workers,
                                                    std::optional<GpuTypeId> type = std::nullopt);
/// place_evenly() on the GPU type, or on servers of any, where the job is fastest; where it goes
/// nowhere evenly, on any GPUs that it can have.
[[nodiscard]] std::optional<Placement> place_on_fastest(const ElasticCall& call,
                                                        const Occupancy& gpus, const JobSpec& job,
                                                        std::uint32_t workers);

}  // namespace starling
