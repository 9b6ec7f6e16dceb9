// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace starling {

/// A number that means one thing: two different ids never mix, and none is a bare integer.
template <class Tag, class Rep = std::uint32_t>
struct Id {
  using rep = Rep;
  Rep value = 0;

  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value(v) {}
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using NodeId = Id<struct NodeTag>;            ///< a process on the bus: agent, executor or client
using AgentId = Id<struct AgentTag>;          ///< 0, 1, ...; the agent's number in the flock
using PartitionId = Id<struct PartitionTag>;  ///< 0, 1, ...; partition p starts with agent p
using GpuId = Id<struct GpuTag>;              ///< depth-first index in the topology
using ServerId = Id<struct ServerTag>;        ///< depth-first index in the topology
using Epoch = Id<struct EpochTag, std::uint64_t>;  ///< fencing token of a partition, from 1
/// Life of a process; grows at each start.
using Incarnation = Id<struct IncarnationTag, std::uint64_t>;

/// Chosen by the client, so that submitting twice is submitting once. 128 bits, written as 32 hex
/// digits.
struct JobId {
  std::uint64_t hi = 0;
  std::uint64_t lo = 0;
  friend constexpr auto operator<=>(const JobId&, const JobId&) = default;
};
[[nodiscard]] std::string to_string(const JobId& id);
/// Reads what to_string wrote. Fewer digits are the low ones; `invalid` for anything else.
[[nodiscard]] Result<JobId> parse_job_id(const std::string& text);

/// One try at running a job. Ordered by job first. number = home's incarnation << 32 | count.
struct AttemptId {
  JobId job;
  Epoch home_epoch;
  std::uint64_t number = 0;
  friend constexpr auto operator<=>(const AttemptId&, const AttemptId&) = default;
};
[[nodiscard]] std::string to_string(const AttemptId& id);

}  // namespace starling

template <class Tag, class Rep>
struct std::hash<starling::Id<Tag, Rep>> {
  std::size_t operator()(const starling::Id<Tag, Rep>& id) const noexcept {
    return std::hash<Rep>{}(id.value);
  }
};
template <>
struct std::hash<starling::JobId> {
  std::size_t operator()(const starling::JobId& id) const noexcept {
    return static_cast<std::size_t>((id.hi ^ (id.lo * 0x9e3779b97f4a7c15ULL)));
  }
};
