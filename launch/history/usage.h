// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/result.h"
#include "launch/system/dates.h"
#include "topology/topology.h"

namespace starling {

/// What a job has had of the data centre, as its home tells. Of a job that has not ended: so far.
struct Usage {
  JobState state;
  std::string user, queue, type;  ///< `type`: of its GPUs, those it runs on or asked for; "-": any
  std::optional<Date> submitted, started, ended;
  std::uint32_t gpus = 0;
  double waited_h = 0;  ///< before its first start and between attempts
  double held_h = 0;    ///< from its first start to its end, without the latter
  double gpu_h = 0;
  bool exact = true;  ///< it never had another number of GPUs
  std::optional<double> energy_kwh;
  std::optional<double> job_kwh;  ///< of all its time, whatever the period
};

/// A period, of which either end may be open.
struct Period {
  std::optional<Date> from, until;
};

/// The usage of `jobs` that falls into `period`, oldest first: what a job held longer counts for
/// the part in the period, evenly over its time, and so do its energy (joules by job) and its hours
/// between attempts; its hours before the first start count where they were. Jobs without any part
/// in it are left out.
[[nodiscard]] std::vector<Usage> usage_of(const std::vector<JobState>& jobs,
                                          const Topology& topology,
                                          const std::map<JobId, double>& joules,
                                          const Period& period, Date now);

/// One line of a report.
struct UsageSum {
  std::vector<std::string> keys;
  std::uint64_t jobs = 0, finished = 0, failed = 0, cancelled = 0;
  double gpu_h = 0, waited_h = 0, longest_wait_h = 0, energy_kwh = 0;
  bool exact = true, energy_known = false;
};
/// `by`: any of user, queue, type, state, month (of local time; a job counts in each month for what
/// falls into it). Sorted by keys. `invalid` names the word that is none.
[[nodiscard]] Result<std::vector<UsageSum>> sums_of(const std::vector<Usage>& usages,
                                                    const std::vector<std::string>& by,
                                                    const Period& period, Date now);

// For people, for spreadsheets and for programs.
[[nodiscard]] std::string usage_text(const std::vector<Usage>& usages, Date now);
[[nodiscard]] std::string usage_csv(const std::vector<Usage>& usages);
[[nodiscard]] std::string usage_json(const std::vector<Usage>& usages,
                                     const std::vector<AgentId>& silent);
[[nodiscard]] std::string sums_text(const std::vector<UsageSum>& sums,
                                    const std::vector<std::string>& by);
[[nodiscard]] std::string sums_csv(const std::vector<UsageSum>& sums,
                                   const std::vector<std::string>& by);
[[nodiscard]] std::string sums_json(const std::vector<UsageSum>& sums,
                                    const std::vector<std::string>& by,
                                    const std::vector<AgentId>& silent);

}  // namespace starling
