// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "launch/chaos/machine/manners.h"

namespace starling::chaos_live {

/// What `starling chaos live` runs as a job, one process per worker: takes an exclusive lock on a
/// file for each of its GPUs and on one for its rank, writes a line when it starts and one when it
/// ends, and sleeps in between. A lock that is taken is written down with its holder; then the exit
/// status is 3. Lines go to `dir`/records:
///   WHAT SECONDS JOB ATTEMPT RANK WORLD SERVER GPUS PID [OTHER JOB, ATTEMPT AND PID]
/// where WHAT is start, end, taken (a GPU) or twice (another attempt of the job lives). What it
/// leaves behind by its manner has the locks, too.
int run_chaos_job(const std::filesystem::path& dir, double seconds, Manner manner);

/// The holder of the lock of a rank or GPU now, as the file says; empty: none.
[[nodiscard]] std::string holder_of(const std::filesystem::path& lock);
[[nodiscard]] std::filesystem::path rank_lock(const std::filesystem::path& dir,
                                              const std::string& job, unsigned rank);

}  // namespace starling::chaos_live
