// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agents/message.h"

namespace starling::wire {

/// From which node to which: agent -> agent, agent -> executor, executor -> agent, client -> agent,
/// agent -> client.
enum WhoToWhom : unsigned { kAA = 1, kAE = 2, kEA = 4, kCA = 8, kAC = 16 };
constexpr unsigned kAll = kAA | kAE | kEA | kCA | kAC;

/// The partition in whose name an agent says it, which only its owner may: the field that has it.
enum class InName : unsigned char { of_none, of_fence, of_share, of_partition };

struct MaySay {
  unsigned links = 0;
  InName partition = InName::of_none;
};
/// Of each kind of message, beside its form on the wire: flock_messages.h, job_messages.h,
/// queue_messages.h, gang_messages.h, run_messages.h.
template <class Kind>
inline constexpr MaySay kMaySay{};

/// Tables of the union.
template <class... Kind>
struct Kinds {};

}  // namespace starling::wire
