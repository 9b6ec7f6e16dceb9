// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "policies/parts/evict.h"
#include "policies/queues/queue_walk.h"

namespace starling {

/// The decisions of a preemptive policy that is nothing but an order of all jobs, waiting and
/// running alike, by priority and then by rank: GPUs go down the order by number, a job that no
/// longer fits is skipped, and one that runs without being chosen is stopped if, and only if, its
/// GPUs are needed by one that is.
///
/// A chosen job keeps its place. A new one is placed where it stops the fewest; until those have
/// stopped, no job behind it starts on the GPUs that are promised to it.
class Ranked {
 public:
  /// `rank`: smaller runs first; constant while `served` is. Running jobs win ties.
  Ranked(const QueueOptions& options, const QueueIndex::KeyOf& rank)
      : rank_(rank), queue_(options, rank) {}
  /// Of free GPUs elsewhere.
  void set_veto(OverflowRouting::Veto veto) { queue_.overflow().set_veto(std::move(veto)); }
  /// Policy::decide().
  [[nodiscard]] std::vector<Decision> decide(const View& view);

 private:
  struct Runner {
    std::int32_t priority;
    std::int64_t rank;
    const JobView* job;
    bool chosen = false;
  };
  void start_here(const View& view, Trial& trial, std::vector<Decision>& out);
  void list_runners(const View& view, Eviction& eviction, std::uint32_t& budget);
  bool start_all(Trial& trial, std::vector<Decision>& out);
  void choose(std::uint32_t budget, bool strict, std::vector<std::size_t>& newcomers);

  QueueIndex::KeyOf rank_;
  QueueWalk queue_;
  std::vector<Runner> runners_;  // that may be stopped, by rank
  Mirror soon_;                  // once those that stop have stopped
};

}  // namespace starling
