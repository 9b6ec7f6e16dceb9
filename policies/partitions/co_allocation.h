// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policies/parts/queue_index.h"
#include "scheduling/packing.h"
#include "scheduling/policy.h"

namespace starling {

/// When a gang may ask around again after `failed` rounds. Never in step with another gang: two
/// that both need the whole flock would be in each other's way every time, for ever.
[[nodiscard]] Duration until_next_round(JobId job, std::uint32_t failed);
/// The gang, which waits here, asks several partitions. Answers when it may again.
[[nodiscard]] Instant ask_around(const View& view, const JobView& job, Spread spread,
                                 std::vector<Decision>& out);

/// Gangs that ask several partitions for a share of their GPUs at once (Spread), and when each of
/// them may do so again: refusals count against a job's limit of failed rounds, so asking around
/// slows down.
class CoAllocation {
 public:
  /// At the start of every call: forgets whose time has come.
  void begin(Instant now);
  [[nodiscard]] bool may_ask(const QueueEntry& entry) const;
  /// The same of asking for GPUs that others are on: they come and go faster than free ones, and
  /// no partition has refused anything where none will do, so that is asked about again by half a
  /// minute.
  [[nodiscard]] bool may_ask_to_share(const QueueEntry& entry) const;
  /// Asks for the gang; `share` is what it gets here, taken from `local`. `type`: as Spread's.
  void ask(const View& view, const QueueEntry& entry, const JobView& job, Placement share,
           std::optional<GpuTypeId> type, Trial& local, std::vector<Decision>& out);
  /// What the gang's speed is worth, for when it knows what it is offered.
  struct Worth {
    double alone = 0;  ///< on the type that was asked for; relative, as Speed
    double least = 0;  ///< speed that it must add net of what others lose, for each of its GPUs
  };
  void ask_to_share(const View& view, const QueueEntry& entry, const JobView& job, GpuTypeId type,
                    Worth worth, std::vector<Decision>& out);
  /// Of the job with that arrival order, since it last asked. Null: it has not.
  [[nodiscard]] const Worth* worth_of(std::uint64_t order) const;

 private:
  struct Asked {
    std::uint64_t order;
    Instant again;
    Worth worth = {};
  };
  std::vector<Asked> asked_, asked_to_share_;
};

/// Free GPUs of the type that the job's CPUs and memory go with.
[[nodiscard]] std::uint64_t free_of_type(const Occupancy& gpus, GpuTypeId type, const JobSpec& job);
/// At most `want` of them in whole workers, on the lowest servers.
[[nodiscard]] Placement workers_of_type(const Occupancy& gpus, GpuTypeId type, std::uint32_t want,
                                        const JobSpec& job);

}  // namespace starling
