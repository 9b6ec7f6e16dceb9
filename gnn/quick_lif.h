// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gnn/pair_speeds.h"
#include "policies/candidates/candidates_residents.h"
#include "policies/placement/placement_policy.h"
#include "scheduling/policy.h"
#include "topology/free_servers.h"

namespace starling {

/// About what `lif` with a threshold does, several times as fast, for roll-outs, by arrival or by
/// the GPU time that JobSpec::duration makes of each job: a job goes to the tightest free GPUs,
/// onto the GPUs of one other job, or, a gang, beside several on one server, whichever slows down
/// least, if that adds the threshold's part of its best speed. What jobs on a server take of each
/// other's host counts only for itself on free GPUs. One partition, one run; knows no neighbours.
class QuickLif final : public Policy {
 public:
  explicit QuickLif(PairSpeeds& pairs, PlacementOrder order = PlacementOrder::arrival)
      : pairs_(pairs), order_(order), residents_(false) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override;
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;

 private:
  struct Look {
    JobProfile profile;
    std::uint64_t hash = 0;  // of profile, worker and types
    std::uint32_t gpus = 1, worker = 1;
    double alone = 0;
    std::vector<std::uint32_t> kinds;            // of FreeServers
    std::vector<const PairSpeeds::Pair*> pairs;  // by group of residents_; null: not asked
    std::uint64_t refused = ~0ULL;               // version at which it had no place
  };
  struct Waiting {
    double area = 0;  // expected GPU seconds; by arrival: 0
    std::uint64_t order = 0;
    std::uint32_t look = 0;
    bool gone = false;
  };
  struct Place {
    double slowdown = 0;
    std::optional<Placement> where;
    std::uint32_t beside = Residents::kNone;  // slot; in the place of `where`
  };
  void line_up(const View& view);
  [[nodiscard]] std::uint32_t look_of(const View& view, const JobSpec& spec);
  [[nodiscard]] std::optional<Placement> place(const View& view, Look& look);
  void try_free(const View& view, const Look& look, double least, Place& best);
  void try_beside(Look& look, double least, Place& best);
  void try_servers(const View& view, Look& look, double least, Place& best);
  [[nodiscard]] bool join(const View& view, Look& look, std::uint32_t server, double least,
                          Place& best);
  [[nodiscard]] const PairSpeeds::Pair& pair_of(Look& look, std::uint32_t group);
  [[nodiscard]] std::optional<Placement> open_gpus(const View& view, const Look& look,
                                                   const Resident& other) const;

  PairSpeeds& pairs_;
  PlacementOrder order_;
  Residents residents_;
  FreeServers free_;
  std::vector<Look> looks_;
  std::unordered_map<std::uint64_t, std::uint32_t> look_ids_;
  std::vector<Waiting> queue_;  // by area, then by order
  std::uint64_t next_ = 0;      // orders from here on have not been seen
  Neighbours beside_;
  std::vector<std::uint32_t> slots_;  // of beside_
  struct Join {
    float slower = 0;  // below 0: free
    GpuId gpu;
    std::uint32_t slot = Residents::kNone;
    const PairSpeeds::Pair* pair = nullptr;
  };
  std::vector<Join> joins_;
};

}  // namespace starling
