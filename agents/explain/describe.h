// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace starling {

struct AgentState;
struct ExecutorState;

// What a checker may ask of a core between two events. Reads only; O(size of the state).

/// The part of the state that the journal stands for, a line each, in order of id. Replaying a
/// core's journal, or its snapshot, into a new core gives the same text (rule S15). Left out is
/// what a new life finds out again: rounds before AttemptStarting, holds without a Commit, what
/// runs at executors, and counts for people. Once Limits::tombstones has been reached the oldest
/// ones may differ.
[[nodiscard]] std::string durable_state(const AgentState& state);
[[nodiscard]] std::string durable_state(const ExecutorState& state);

/// Changes with whatever a message may change: the durable state, rounds, holds, timers, what is
/// known of peers. Counters, the time and signs of life are not in it, so that a refused frame
/// leaves it as it is (rule S10).
[[nodiscard]] std::uint64_t state_hash(const AgentState& state);
[[nodiscard]] std::uint64_t state_hash(const ExecutorState& state);

/// The first container that holds more than it may (Limits, or a bound that follows from the
/// configuration) with its size and bound: "shares: 12 of at most 8". Nothing: all are within
/// (rule S11). Between two events only.
[[nodiscard]] std::optional<std::string> over_limits(const AgentState& state);
[[nodiscard]] std::optional<std::string> over_limits(const ExecutorState& state);

}  // namespace starling
