// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agents/executor/executor.h"
#include "launch/launchers/job_login.h"
#include "topology/topology.h"

namespace starling {

/// What a worker is told, in the names that torch.distributed reads, as under torchrun:
///   RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK = NODE_RANK, NNODES, MASTER_ADDR,
///   MASTER_PORT
/// CUDA_VISIBLE_DEVICES holds the job's GPUs on this server (server-local indices, in PCI bus
/// order) for all its workers here, so that `set_device(LOCAL_RANK)` is right; worker i uses the
/// gpus_per_worker ones from i * gpus_per_worker on, also named in STARLING_WORKER_GPUS (as indices
/// into the visible ones). Where the job's own environment has STARLING_VISIBLE_GPUS=own, each
/// worker sees those alone, as 0 to gpus_per_worker - 1. STARLING_JOB, STARLING_ATTEMPT,
/// STARLING_SERVED_S (where to resume), STARLING_RUN (`run_mark`). An attempt that runs otherwise
/// than it asks has in STARLING_WORKERS how many workers there are and, where that was decided, in
/// STARLING_SERVERS parameter servers, in STARLING_BATCH samples of a worker's batch, in
/// STARLING_ACCUMULATION further gradients before each exchange, and STARLING_AVERAGED=1. Rank 0
/// alone gets STARLING_STEPS (`steps_file`): if it keeps the number of its steps there, its speed
/// is measured (step_meter.h). Tasks of arrays, and what came by Slurm's names, are told more:
/// slurm_environment.h.
struct EnvironmentOptions {
  std::string run_mark;
  std::string steps_file;
  std::function<std::string(ServerId)> address;  ///< of the server of rank 0; unset: 127.0.0.1
  const JobLogin* login = nullptr;  ///< whom the workers run as; null: as this process does
};

/// One environment per local worker: what a login has, then the job's, then the above. Nothing of
/// this process's own. USER, LOGNAME, HOME and SHELL of another user are as this machine says.
[[nodiscard]] std::vector<std::vector<std::string>> worker_environments(
    const LaunchSpec& spec, const Topology& topology, const EnvironmentOptions& options);

/// The same for every part of an attempt, another one for most other attempts: 20000 to 29999.
[[nodiscard]] std::uint16_t master_port(const AttemptId& attempt);

}  // namespace starling
