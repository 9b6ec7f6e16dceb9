// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agents/message.h"
#include "launch/jobs/job_dates.h"
#include "topology/topology.h"

namespace starling {

/// One job in lists of them.
struct ListedJob {
  JobState state;
  std::string host;  ///< the agent whose process serves its home
};

/// What lists are written with.
struct JobTable {
  const Topology& topology;  ///< for the names of servers
  Date now;
  bool tasks = false;  ///< in text(): each task of an array by itself

  /// A table for people; columns in which no job has anything are left out.
  [[nodiscard]] std::string text(const std::vector<ListedJob>& jobs) const;
  /// All fields, with a heading.
  [[nodiscard]] std::string csv(const std::vector<ListedJob>& jobs) const;
  /// One job as JSON on one line; and all, with the agents that are missing.
  [[nodiscard]] std::string json(const ListedJob& job) const;
  [[nodiscard]] std::string json(const std::vector<ListedJob>& jobs,
                                 const std::vector<AgentId>& silent) const;

 private:
  /// A row of text().
  struct Fold {
    const ListedJob* first;
    std::vector<std::uint32_t> tasks;  ///< of an array, ascending; none: it is of none
  };
  [[nodiscard]] std::vector<Fold> folded(const std::vector<ListedJob>& jobs) const;
  [[nodiscard]] nlohmann::json object(const ListedJob& job) const;
  [[nodiscard]] std::vector<std::string> servers(const Placement& placement) const;
};

/// What a shell says of it: its exit code, 128 and the number of a signal that ended it, 143 where
/// it was cancelled, 1 where it failed without an end of its own.
[[nodiscard]] int shell_status(const JobState& state);

}  // namespace starling
