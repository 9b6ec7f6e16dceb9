// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policies/queues/queue_index.h"
#include "scheduling/packing.h"
#include "scheduling/policy.h"

namespace starling {

/// When a gang may ask around again after `failed` rounds. Never in step with another gang: two
/// that both need the whole flock would be in each other's way every time, for ever.
[[nodiscard]] Duration until_next_round(JobId job, std::uint32_t failed);

/// Gangs that ask several partitions for a share of their GPUs at once (Spread), and when each of
/// them may do so again: refusals count against a job's limit of failed rounds, so asking around
/// slows down.
class CoAllocation {
 public:
  /// At the start of every call: forgets whose time has come.
  void begin(Instant now);
  [[nodiscard]] bool may_ask(const QueueEntry& entry) const;
  /// Asks for the gang; `share` is what it gets here, taken from `local`. `type`: as Spread's.
  void ask(const View& view, const QueueEntry& entry, const JobView& job, Placement share,
           std::optional<GpuTypeId> type, Trial& local, std::vector<Decision>& out);

 private:
  struct Asked {
    std::uint64_t order;
    Instant again;
  };
  std::vector<Asked> asked_;
};

/// Free GPUs of the type that the job's CPUs and memory go with.
[[nodiscard]] std::uint64_t free_of_type(const Occupancy& gpus, GpuTypeId type, const JobSpec& job);
/// At most `want` of them in whole workers, on the lowest servers.
[[nodiscard]] Placement workers_of_type(const Occupancy& gpus, GpuTypeId type, std::uint32_t want,
                                        const JobSpec& job);

}  // namespace starling
