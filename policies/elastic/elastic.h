// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "policies/elastic/elastic_progress.h"
#include "policies/queues/round_policy.h"

namespace starling {

/// A policy that gives every job a number of workers, anew at each round. Jobs that are not elastic
/// have all their workers or none.
///
/// A round divides everything. Workers that find no place are not held for their job: it gets as
/// many as there is room for, and the others go to whoever is next. With `between`, which no paper
/// has, what is free is also divided as soon as a job arrives or ends: to those who wait, or else
/// to those who run, if they gain more by it than a restart costs. Nobody gets less for that.
class ElasticPolicy : public RoundPolicy {
 public:
  ElasticPolicy(const QueueOptions& options, bool between)
      : RoundPolicy(options), between_(between) {}

 protected:
  /// One job as the division sees it.
  struct Share {
    const JobView* job = nullptr;
    std::uint32_t least = 1, most = 1;  ///< workers
    double left_s = 0;                  ///< work that remains, at the size it asks for
    std::uint32_t now = 0;              ///< workers that it runs on
    std::uint32_t workers = 0;          ///< the answer; 0: waits
  };
  struct Capacity {
    double gpus = 0, cpus = 0;
  };
  /// Divides `left`, of a partition of `all`. `shares` are by priority, then in order of
  /// submission; each `workers` starts as what the job is sure of and comes out no less, 0 or in
  /// [least, most].
  virtual void divide(const View& view, const Capacity& all, Capacity left,
                      std::vector<Share>& shares) = 0;
  /// Where so many workers go.
  [[nodiscard]] virtual std::optional<Placement> find_workers(const View& view,
                                                              const Occupancy& gpus,
                                                              const JobSpec& job,
                                                              std::uint32_t workers) const = 0;
  /// The place of a share of so many workers or, where that is not to be had, fewer; nothing: none
  /// that the job can have. Unless overridden the most workers for which find_workers() has a
  /// place.
  [[nodiscard]] virtual std::optional<Placement> choose(const View& view, const Occupancy& gpus,
                                                        const Share& share) const;
  /// Is it worth stopping a running job to give it `share.workers`, more than it has?
  [[nodiscard]] virtual bool worth_a_restart(const View& view, const Share& share) = 0;
  /// Does the policy know speeds? Then running jobs also get more workers between rounds, and at
  /// rounds move to a better place, if that is worth_a_move().
  [[nodiscard]] virtual bool knows_speeds() const { return false; }
  [[nodiscard]] virtual bool worth_a_move(const View&, const Share&, const Placement&) const {
    return false;
  }

  void observe(const View& view) override { progress_.observe(view); }
  void plan_round(const View& view, Rng& rng, std::vector<Decision>& out) override;
  void between_rounds(const View& view, std::vector<Decision>& out) override;

  /// The larger part of the GPUs or CPUs that so many workers of this job are of all, in units of
  /// 1e-9, so that sums of equal parts are equal.
  [[nodiscard]] static std::int64_t dominant_share(const Capacity& all, const JobSpec& job,
                                                   std::uint32_t workers);
  /// Are there GPUs and CPUs for so many more workers? If so they are taken from `left`.
  [[nodiscard]] static bool take(Capacity& left, const Capacity& all, const JobSpec& job,
                                 std::uint32_t workers);
  /// Seconds that the rest of a job takes with so many workers, by the speed model, on the
  /// placement that the empty partition has for them. Speeds are remembered by kind of job.
  [[nodiscard]] double rest_s(const View& view, const Share& share, std::uint32_t workers);
  /// The same on that placement, whatever runs beside it.
  [[nodiscard]] static double rest_on_s(const View& view, const Share& share,
                                        const Placement& placement);

 private:
  [[nodiscard]] Share share_of(const JobView& job) const;
  [[nodiscard]] static Capacity capacity_of(const Occupancy& gpus);
  void divide_worthwhile(const View& view, const Capacity& all, Capacity left,
                         std::vector<Share>& shares);
  void place_shares(const View& view, const Capacity& all, Occupancy& planned,
                    std::vector<Share>& shares, std::vector<Decision>& out);
  void move_stayers(const View& view, Occupancy& planned, const std::vector<Share>& stayers,
                    std::vector<Decision>& out) const;

  bool between_;
  ElasticProgress progress_;
  /// Model, GPUs per worker, workers that it asks for and has, CPUs, GPU types.
  using SpeedKey = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, double,
                              std::vector<std::string>>;
  std::map<SpeedKey, double> speeds_;
};

/// The smallest number of servers that hold the workers evenly: of those that can, the ones with
/// the fewest free GPUs, ties to the lowest index. Nothing if no number does. With `type` only
/// servers of that GPU type.
[[nodiscard]] std::optional<Placement> place_evenly(const Occupancy& gpus, const JobSpec& job,
                                                    std::uint32_t workers,
                                                    std::optional<GpuTypeId> type = std::nullopt);

}  // namespace starling
