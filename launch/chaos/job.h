#pragma once

#include <filesystem>

namespace starling::chaos_live {

/// What `starling chaos live` runs as a job, one process per worker: takes an exclusive lock on a
/// file for each of its GPUs and on one for its rank, writes a line when it starts and one when it
/// ends, and sleeps in between. A lock that is taken is written down with who has it; then the exit
/// status is 3. Lines go to `dir`/records:
///   WHAT SECONDS JOB ATTEMPT RANK WORLD SERVER GPUS PID [OTHER JOB, ATTEMPT AND PID]
/// where WHAT is start, end, taken (a GPU) or twice (another attempt of the job lives).
int run_chaos_job(const std::filesystem::path& dir, double seconds);

}  // namespace starling::chaos_live
