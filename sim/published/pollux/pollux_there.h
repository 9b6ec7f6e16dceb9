// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/rng.h"
#include "interference/goodput/online_fit.h"
#include "policies/pollux/job_goodput.h"
#include "policies/pollux/share_search.h"
#include "policies/pollux/warm_start.h"
#include "sim/published/pollux/cluster.h"

namespace starling {

/// Pollux in its simulated world, with this program's fit, goodput and search (policies/pollux,
/// OnlineFit). It knows of a job what was measured of it: step and exchange at each number of nodes
/// and replicas and each local batch, once, and the newest gradient. A job of which nothing was
/// measured gets one GPU; none more than twice the replicas that were measured.
class PolluxThere final : public PolluxScheduler {
 public:
  PolluxThere(const PolluxCluster& cluster, const ShareSearchOptions& search, std::uint64_t seed)
      : cluster_(cluster), search_(search), rng_(seed) {}
  void prepare(std::span<PolluxJob> jobs) override;
  [[nodiscard]] std::vector<NodeList> decide(std::int64_t now_s,
                                             std::span<const PolluxJob* const> jobs) override;

 private:
  struct Known {
    std::set<std::array<std::uint32_t, 3>> profile;  // nodes, replicas, local batch
    std::optional<OnlineFit> fit;
    double unit = 1;  // samples per second of the fit's asked shape
    std::uint32_t most_replicas = 0;
    JobGoodput goodput;
  };
  [[nodiscard]] BatchSplit choose(const PolluxJob& job, std::uint32_t nodes,
                                  std::uint32_t replicas) const;
  void measure(const PolluxJob& job, const ProfiledStep& step);
  [[nodiscard]] SharingProblem problem_of(std::int64_t now_s,
                                          const std::vector<const PolluxJob*>& jobs) const;

  PolluxCluster cluster_;
  ShareSearchOptions search_;
  Rng rng_;
  std::map<const PolluxJob*, Known> known_;
  WarmStart<const PolluxJob*> last_;
};

}  // namespace starling
