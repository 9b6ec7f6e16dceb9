// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace starling {

// Turns: what keeps streams of other jobs from starving one that waits, under every policy.
//
// A job may take a turn when four of its rounds have failed; when it can never fit into its home's
// partition and has waited for its patience; or when it has waited for that and is passed by: one
// that came later, and is no more urgent, has started at its home; or when it has waited for that
// beside GPUs that are free, while others of its home are out of service: its policy may be waiting
// for servers that do not come back. Its patience is ten minutes for a gang of more than a server,
// which finds no room by chance, and an hour for others. One that was stopped waits anew. It then
// claims the partitions that it needs, its own first, in ascending order: an owner keeps as many
// servers for it as hold what is asked of its partition (agents/parts/kept_servers.h). Nothing else
// starts on them, so that they become free as what runs there ends, and the owner says again and
// again what is. As soon as that is enough the gang reserves as in every other round. A turn lasts
// for the hold time, the next one twice as long, and between two turns as much time passes as the
// last one took, so that half of the time is all jobs'. Other jobs neither see the kept servers
// nor are told of them (digests). Of one home the most urgent goes first, then the longest waiting;
// of several homes' gangs likewise. Others give way at once and come again, also to a more urgent
// job that waits at the owner and has not yet waited for its own patience.
//
// A policy that stops jobs has its homes stop theirs on the kept servers for a gang that needs
// several partitions and has waited for an hour: no policy can, for each sees but its own. Those
// stop that lie wholly in one partition, may be stopped, and are no more urgent. Such a turn lasts
// for as long as stopping may take, and after one in vain other partitions are claimed.
//
// Only where frames may get lost: in a perfect network policies alone decide, as published; but for
// gangs that need several partitions and that policies leave waiting for an hour.

constexpr Duration kGangPatience = std::chrono::minutes(10), kPatience = std::chrono::hours(1);
/// `server`: GPUs of the commonest server of its home.
[[nodiscard]] constexpr Duration patience_of(std::uint32_t gpus, std::uint32_t server) {
  return gpus > server ? kGangPatience : kPatience;
}

struct AgentState;
struct JobSpec;
/// GPUs of this partition are out of service, and of the others enough for the job are free.
[[nodiscard]] bool left_beside_free_gpus(const AgentState& s, const JobSpec& spec);
/// Jobs of this home that are to stop for the gang whose turn it is in this partition.
[[nodiscard]] std::vector<JobId> who_yields(const AgentState& s, Instant now);

/// At the latest so long after it may first take a turn the gang that has waited longest starts, if
/// no job that runs has more than `longest_left` (up to five hours) left and all GPUs that it needs
/// are in service.
[[nodiscard]] constexpr Duration turn_bound(Duration longest_left) {
  return 5 * longest_left + std::chrono::minutes(2);
}

}  // namespace starling
