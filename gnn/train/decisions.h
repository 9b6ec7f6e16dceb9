// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "gnn/learned_scorer.h"

namespace starling {

/// One decision as it was seen, for a net to learn from, and what became of it or should have.
struct SeenDecision {
  std::uint32_t partition = 0;  ///< batches are of decisions on one partition
  std::shared_ptr<const Observation> observation;
  std::uint32_t options = 0;
  std::uint32_t chosen = 0;   ///< by the policy that ran
  std::vector<float> target;  ///< by option: a probability, or a cost; see what fills it
};

/// What was seen in some runs of one learned system.
struct SeenDecisions {
  std::vector<SeenDecision> all;

  /// Keeps the decision as `net` observes it, which has just scored it; the caller fills in the
  /// rest.
  SeenDecision& add(const DecisionPoint& point, LearnedScorer& net);
  /// Those of another run behind these; the topologies of both are still there.
  void append(SeenDecisions other);

 private:
  /// Where in topologies_ this one stands; behind all others if it is new.
  [[nodiscard]] std::size_t number_of(const Topology::Parts* topology);

  std::vector<const Topology::Parts*>
      topologies_;  // as they came: addresses have no order to go by
  /// By topology and servers: runs of several numbers of agents cut the same one up differently.
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint32_t>, std::uint32_t> known_;
};

}  // namespace starling
