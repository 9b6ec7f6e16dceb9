// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "agents/archive.h"
#include "agents/config.h"
#include "agents/message.h"
#include "agents/record.h"

namespace starling {

/// Where a job went that was homed here.
struct Moved {
  AgentId to;
  std::uint32_t forwards = 0;  ///< of the Submit it left with: a higher one brings it back
  std::vector<AgentId> offered;
};

/// Jobs that were homed here and are not any more: those that ended lately, with all that clients
/// may ask about them; earlier ones in the archive; those that were given away. The oldest go
/// where there are more, or more bytes, than the limits allow.
struct Remembered {
  std::map<JobId, JobState> ended;
  std::deque<JobId> ended_order;  ///< `ended`, oldest first
  std::size_t ended_bytes = 0;
  Archive archive;
  std::map<JobId, Moved> moved;
  /// `moved`, oldest first; of one that came back and left again its earlier leave, too.
  std::deque<std::pair<JobId, std::uint32_t>> moved_order;
  /// Jobs that the archive is owed an answer about, and the homes that have not given it.
  std::map<JobId, std::set<AgentId>> settling;
  JobId asked_last;  ///< of those, in their order

  [[nodiscard]] bool is_over(const JobId& job) const {
    return ended.contains(job) || archive.contains(job);
  }
  void add_ended(JobState over, const Limits& limits);
  /// `moved` has it already.
  void add_moved(JobId job, const Limits& limits);
  /// There must be one.
  [[nodiscard]] JobState take_oldest();
  /// The oldest ones, in their order.
  void put_away(const JobsArchived& record);
  /// A chunk of the archive can be made of `ended`.
  [[nodiscard]] bool chunk_full(const Limits& limits) const noexcept {
    return ended_bytes >= limits.archive_chunk_bytes && !ended_order.empty();
  }
};

/// Bytes of an ended job in a chunk of the archive.
[[nodiscard]] std::size_t archived_bytes(const JobState& over);

}  // namespace starling
