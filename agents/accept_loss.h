// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agents/record.h"

namespace starling {

/// What a home's journal has to say in addition once it is known to lack records that came after:
/// the jobs that are open in it may have run to their end since, so none of them is ever started
/// again. One that waits has failed; one that was given away is its next home's; one of which an
/// attempt is open fails when that attempt is over wherever it had a share. `why` becomes the last
/// words of those that failed.
///
/// One that was only offered is left to the home that it was offered to if that `has` it, or it
/// cannot be told. Else it fails: where both went back to one moment no home would have it.
///
/// What ran here for other homes stays: they are asked about it, as in every new life. What
/// executors run of jobs that the journal does not know is ended by the same question.
struct OpenJobs {
  std::vector<Record> records;
  std::vector<JobId> failed;  ///< of them, now or once their attempt is over
  std::vector<JobId> given_away;
};
/// `offer`: its number (Submit::forwards), for a job that went on from there before comes back.
using HasJob = std::function<bool(AgentId home, const JobId& job, std::uint32_t offer)>;
[[nodiscard]] OpenJobs end_open_jobs(AgentId me, std::span<const Record> journal,
                                     const std::string& why, const HasJob& has = {});

/// The jobs that a home of this journal knows, open, ended, given away or in the archive, and up to
/// which offer (Submit::forwards) each has been there.
[[nodiscard]] std::map<JobId, std::uint32_t> jobs_known_to(std::span<const Record> journal);

}  // namespace starling
