// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

// The folder of a part: all that its guardian and its executor, in whichever life, say to one
// another. `plan` is written before the guardian starts; `guardian` says which process guards, or
// that none will; `control` is a FIFO with ControlWords; `alive` is locked by all processes of the
// part (life_lock.h); `result` is there once none of them is left. Instants are nanoseconds of
// CLOCK_BOOTTIME, which goes on while the machine is suspended.

constexpr std::int64_t kNoDeadline = INT64_MAX;
[[nodiscard]] std::int64_t boot_ns() noexcept;

struct PlannedWorker {
  std::vector<std::string> environment;  ///< NAME=value, all of it
  std::vector<int> cpus;                 ///< it may run on these; empty: any
};

/// A user of this machine, as the kernel knows them.
struct PartUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};

/// What a guardian is told when it starts.
struct PartPlan {
  std::int64_t made_ns = 0;
  std::string mark;                     ///< STARLING_RUN of its processes
  std::int64_t until_ns = kNoDeadline;  ///< the part ends then, unless a ControlWord renews it
  std::int64_t grace_ns = 0;            ///< from its polite end then to the forceful one
  std::vector<std::string> command;
  std::vector<PlannedWorker> workers;
  std::string log;              ///< file for the output of all workers
  std::uint64_t log_bytes = 0;  ///< at most, in two files
  std::uint64_t tail_bytes = 0;
  std::string cgroup;                  ///< a folder to be made in cgroup v2; empty: none
  std::vector<std::string> gpu_locks;  ///< one for each GPU, less the number of the slot
  std::vector<std::uint64_t> gpu_ids;  ///< as in the topology
  std::vector<std::uint64_t> gpus;     ///< indices of these on their server, as NVML counts
  std::uint64_t slots = 1;             ///< parts that may share a GPU
  std::optional<PartUser> user;        ///< its workers become; nothing: they are what we are
};

/// How a part ended.
struct PartResult {
  std::int32_t code = 0;      ///< exit code, or -signal
  bool lost = false;          ///< not the job's doing
  bool unfit = false;         ///< this machine could not start it
  std::int64_t began_ns = 0;  ///< its workers were started
  std::int64_t ended_ns = 0;  ///< no process was left
  std::string why;            ///< where the job's own words do not say it
  std::string tail;           ///< its last output, as it came
};

struct ControlWord {
  enum class Kind : std::uint32_t {
    renew = 1,  ///< lives until `at_ns`
    stop = 2,   ///< politely now, by force at `at_ns`
    quit = 3,   ///< the same, and it counts as lost
    signal = 4  ///< its processes get the signal of number `at_ns`
  };
  static constexpr std::uint32_t kMagic = 0x53544731;
  std::uint32_t magic = kMagic;
  Kind kind = Kind::renew;
  std::int64_t at_ns = 0;
};

[[nodiscard]] std::string encode(const PartPlan& plan);
[[nodiscard]] std::string encode(const PartResult& result);
[[nodiscard]] std::optional<PartPlan> decode_plan(const std::string& bytes);
/// That in the folder of a part, if there is one that can be read.
[[nodiscard]] std::optional<PartPlan> read_plan(const std::filesystem::path& folder);
[[nodiscard]] std::optional<PartResult> decode_result(const std::string& bytes);

/// A regular file of ours or of `owner`, at most `most` bytes of it, read without ever waiting: no
/// link is followed, no FIFO opened. `io` otherwise, `not_found` where there is none.
[[nodiscard]] Result<std::string> read_own_file(const std::filesystem::path& file, std::size_t most,
                                                std::optional<uid_t> owner = std::nullopt);
/// Puts a whole file in place of any other; `io` if the disk refuses.
[[nodiscard]] Status put_file(const std::filesystem::path& file, const std::string& bytes);
/// The same in the room of `from`, a file that is as large already and is gone then: it needs
/// nothing of a full disk, on which what is given back is taken by others.
[[nodiscard]] Status put_file_from(const std::filesystem::path& from,
                                   const std::filesystem::path& file, const std::string& bytes);

/// What guards: a process of one boot of this machine that no later one can be taken for.
struct GuardianId {
  pid_t pid = 0;            ///< 0: none ever will
  std::uint64_t start = 0;  ///< as in /proc/PID/stat
  std::string boot;
};
[[nodiscard]] GuardianId own_id();
/// The first one to take a folder has it. False: another process has, or the disk refuses.
bool take_folder(const std::filesystem::path& folder, const GuardianId& id);
/// Nothing: no process has taken the folder, or what stands there cannot be read.
[[nodiscard]] std::optional<GuardianId> taken_by(const std::filesystem::path& folder);

/// Where it cannot be told whether a process is there, it is.
[[nodiscard]] bool is_there(const GuardianId& id);

}  // namespace starling
