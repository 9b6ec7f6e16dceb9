// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "agents/message.h"
#include "base/ids.h"
#include "base/time.h"

namespace starling {

/// A job that others of this home wait for, as far as this home has heard of it in this life.
struct OtherJob {
  std::set<JobId> waiting;      ///< for it
  std::optional<JobPhase> end;  ///< how it has ended
  std::optional<AgentId> home;  ///< which other agent has it
  Instant asked = Instant::min();
};

/// The tasks of an array of which only some may run at once. Those that are `in` are up for
/// decision, run or are on their way between the two; the others wait for one of these to end.
struct ArrayState {
  std::uint32_t in = 0;
  std::set<std::pair<std::uint64_t, JobId>> back;  ///< by order of arrival
};

}  // namespace starling
