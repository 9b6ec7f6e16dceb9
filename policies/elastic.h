#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "interference/iteration.h"
#include "policies/round_policy.h"

namespace starling {

/// A policy that gives every job a number of workers, anew at each round. Jobs that are not elastic
/// have all their workers or none.
class ElasticPolicy : public RoundPolicy {
 public:
  using RoundPolicy::RoundPolicy;

 protected:
  /// One job as the division sees it.
  struct Share {
    const JobView* job = nullptr;
    std::uint32_t least = 1, most = 1;  ///< workers
    double left_s = 0;                  ///< work that remains, at the size it asks for
    std::uint32_t workers = 0;          ///< the answer; 0: waits
  };
  struct Capacity {
    double gpus = 0, cpus = 0;
  };
  /// Divides. `shares` are in order of submission; each `workers` comes out 0 or in [least, most].
  virtual void divide(const View& view, const Capacity& all, std::vector<Share>& shares) = 0;
  /// Where so many workers go.
  [[nodiscard]] virtual std::optional<Placement> find_workers(const Occupancy& gpus,
                                                              const JobSpec& job,
                                                              std::uint32_t workers) const = 0;

  void observe(const View& view) override;
  void plan_round(const View& view, Rng& rng, std::vector<Decision>& out) override;

  /// The larger part of the GPUs or CPUs that so many workers of this job are of all.
  [[nodiscard]] static double dominant_share(const Capacity& all, const JobSpec& job,
                                             std::uint32_t workers);
  /// Are there GPUs and CPUs for so many more workers? If so they are taken from `left`.
  [[nodiscard]] static bool take(Capacity& left, const Capacity& all, const JobSpec& job,
                                 std::uint32_t workers);
  /// Speed with so many workers, in units of that with as many as the job asks for: how a ring
  /// all-reduce scales, times what the speed model says of the placement that an empty partition
  /// has for them. Remembered by kind of job.
  [[nodiscard]] double speed(const View& view, const JobSpec& job, std::uint32_t workers);

 private:
  struct Known {
    double done_s = 0;
    Duration served{0};
    std::uint32_t workers = 0;  // when last seen running
    bool seen = false;
  };
  void see(const View& view, const JobView& job);

  std::map<JobId, Known> known_;
  std::optional<IterationForm> form_;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t, double>, double> speeds_;
};

/// The smallest number of servers, those with the most free GPUs, that hold the workers evenly;
/// ties to the lowest index. Nothing if no number does.
[[nodiscard]] std::optional<Placement> place_evenly(const Occupancy& gpus, const JobSpec& job,
                                                    std::uint32_t workers);

}  // namespace starling
