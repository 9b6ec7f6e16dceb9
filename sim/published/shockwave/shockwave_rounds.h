// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/published/shockwave/epoch_forecast.h"
#include "sim/published/shockwave/round_counts.h"
#include "sim/published/shockwave/round_world.h"

namespace starling {

/// Shockwave (NSDI'23) in its authors' simulator. It plans 20 rounds ahead whenever jobs have come
/// or gone, and every eighth round: first how many rounds each job runs in, so that the sum of the
/// logarithms of their progress, less 1e-3 of the longest time that any has left, is largest and
/// no job ends later than on its own part of the GPUs; then, where not all can, with the logarithms
/// of those that will weighed by the twelfth power of by how much, and those first. GPUs that a
/// round leaves go to the job with most left.
class ShockwaveRounds final : public RoundPolicy {
 public:
  explicit ShockwaveRounds(std::uint32_t gpus) : gpus_(gpus) {}

  void added(std::size_t job, const RoundView& view) override;
  void ran(std::size_t job, const RoundRan& what, const RoundView& view) override;
  void removed(std::size_t job) override;
  void round_over(const RoundView& view) override;
  std::vector<std::size_t> choose(const RoundView& view) override;

 private:
  struct Known {
    EpochForecast forecast;
    std::uint32_t gpus;
    std::vector<std::pair<std::uint64_t, double>> finishes;  ///< expected on its part, by round
  };
  struct Planned {
    std::size_t id = 0;
    RoundWorth rounds;
    double left_s = 0;
    double target_s = 0;  ///< to be over by
    double weight = 1;
  };
  [[nodiscard]] double part() const;  ///< of its time that each job could have
  std::vector<Planned> gather(std::uint64_t round);
  /// Sets the least rounds with which each is over in time; false if some cannot.
  [[nodiscard]] bool in_time(std::vector<Planned>& jobs, std::uint64_t round) const;
  void weigh(std::vector<Planned>& jobs, std::uint64_t round);
  void plan(std::uint64_t round);
  void fill(std::vector<std::size_t>& chosen, const std::vector<Planned>& jobs) const;

  std::uint32_t gpus_;
  std::map<std::size_t, Known> known_;
  std::map<std::uint64_t, std::vector<std::size_t>> plan_;  // by round
  std::vector<std::size_t> running_;
  std::uint32_t rounds_ = 0;  // of the eight
  bool stale_ = true, changed_ = true;
};

}  // namespace starling
