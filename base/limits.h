// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling {

// A table of limits, one row each:
// clang-format off
/// Every limit of the system by name. Reaching one is an answer (Busy, a refusal, a dropped and
/// counted frame), never growth.
struct Limits {
  std::size_t frame_bytes = 1U << 20U;          ///< largest frame that is sent or read
  std::uint32_t peers = 4096;                   ///< nodes that one node talks to
  std::uint32_t gpus_total = 1U << 20U;         ///< GPUs in one data centre
  std::uint32_t gpus_per_job = 8192;            ///< GPUs in one gang
  std::uint32_t jobs_per_gpu = 1;               ///< that may run on one GPU; scheduling/policy.h says when more
  std::uint32_t participants_per_job = 256;     ///< partitions that one gang may span
  std::uint32_t jobs_waiting = 100'000;         ///< accepted and not yet terminal, per home: then Busy
  std::uint32_t holds = 262'144;                ///< reserved attempts per owner: then refused
  std::uint32_t tombstones = 65'536;            ///< released attempts remembered per owner
  std::uint32_t jobs_remembered = 1'000'000;    ///< terminal jobs that still answer a Query: then the oldest go
  std::uint32_t days_remembered = 90;           ///< and those that went to the archive so long ago
  std::uint64_t archive_bytes = 256ULL << 20U;  ///< of terminal jobs in a home's archive: then the oldest go
  std::uint32_t archive_chunk_bytes = 64 * 1024;  ///< of terminal jobs outside it: then the oldest go there
  std::uint32_t attempts_per_job = 1'000;       ///< failed rounds before a job is failed for good
  std::uint32_t name_bytes = 256;               ///< job, user, model and host names
  std::uint32_t command_bytes = 64 * 1024;      ///< command line with its environment
  std::uint32_t log_tail_bytes = 4096;          ///< last output lines that come back with an exit
  std::uint32_t outbox_frames = 65'536;         ///< frames queued for one peer: then dropped
};

// clang-format on

}  // namespace starling
