// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/time.h"
#include "launch/system/dates.h"
#include "topology/topology.h"

namespace starling {

/// What a flock looked like at one moment, as its agents told. All answers about lists are made of
/// one, so that any number of callers costs the agents what one does. Never changed once it is
/// shared.
struct FlockPicture {
  Instant begun;                             ///< what happened before then is in it
  Date at;                                   ///< the same as a date
  std::uint64_t generation = 0;              ///< of the flock's servers
  std::shared_ptr<const Topology> topology;  ///< null: nothing was ever read
  std::vector<AgentId> owners;               ///< of each server
  std::vector<AgentStatus> agents;           ///< by agent; those that answered
  std::map<AgentId, AgentId> hosts;   ///< on whose host an agent lives, where it is another's
  std::vector<AgentId> silent;        ///< what only they know is missing
  std::vector<JobState> jobs;         ///< by id
  std::vector<std::string> troubles;  ///< of daemons, a line each
  /// GPUs by what the executors of this machine have found of them (HardwareFinding::Kind).
  std::map<std::string, std::uint32_t> hardware;
  std::optional<QueuesState> queues;  ///< none: their keeper does not say
  std::string failure;                ///< why nothing could be read; empty: it could

  /// Null: it is in no list.
  [[nodiscard]] const JobState* job(JobId id) const;
  /// "agent-3": whose process serves the agent's partition.
  [[nodiscard]] std::string host_of(AgentId agent) const;
};
using FlockPicturePtr = std::shared_ptr<const FlockPicture>;

/// A job's line in lists and events; the same fields everywhere, `log_tail` only where asked.
[[nodiscard]] nlohmann::json job_json(const FlockPicture& picture, const JobState& state,
                                      bool whole);
[[nodiscard]] nlohmann::json agents_json(const FlockPicture& picture);
/// The data centre down to GPUs.
[[nodiscard]] nlohmann::json topology_json(const FlockPicture& picture);
/// Each server: drained or not, its bad GPUs, and which job has which of its GPUs.
[[nodiscard]] nlohmann::json servers_json(const FlockPicture& picture);
/// As all lists say their date: "2026-11-23T06:16:52Z".
[[nodiscard]] std::string picture_date(const FlockPicture& picture);

/// A number that changes with whatever of a job is worth an event.
[[nodiscard]] std::uint64_t job_signature(const JobState& state);

}  // namespace starling
