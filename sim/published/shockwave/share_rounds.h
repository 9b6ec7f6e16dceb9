// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>

#include "sim/published/shockwave/round_world.h"

namespace starling {

/// Of each job the part of its time, 0 to 1, that it is to run.
using TimeShares = std::map<std::size_t, double>;
using ShareTime = std::function<TimeShares(const RoundView& view)>;

/// Gavel's rounds as Shockwave's simulator has them. Shares are computed anew when jobs have come,
/// gone or failed, but not within 1,000 s; a job that arrives meanwhile has no share and does not
/// run, though the GPUs that it would take stay free for it where none stands before it. Jobs are
/// tried in descending order of share / part of all run time since the shares were computed, then
/// of the time that they are owed from before, then of their share, then by number; one that does
/// not fit is passed by.
class ShareRounds final : public RoundPolicy {
 public:
  ShareRounds(std::uint32_t gpus, ShareTime share) : gpus_(gpus), share_(std::move(share)) {}

  void added(std::size_t job, const RoundView& view) override;
  void ran(std::size_t job, const RoundRan& what, const RoundView& view) override;
  void removed(std::size_t job) override;
  std::vector<std::size_t> choose(const RoundView& view) override;

 private:
  struct Account {
    double ran_s = 0;   ///< since the shares were computed, and half a round
    double owed_s = 0;  ///< from before that
    double priority = 0;
  };
  void update(const RoundView& view);
  [[nodiscard]] double share_of(std::size_t job) const;

  std::uint32_t gpus_;
  ShareTime share_;
  std::map<std::size_t, Account> accounts_;
  TimeShares shares_;
  double all_ran_s_ = 0, computed_s_ = 0;
  bool stale_ = false;
};

}  // namespace starling
