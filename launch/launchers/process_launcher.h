// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agents/executor/executor.h"
#include "base/time.h"
#include "launch/guardian/descendants.h"
#include "launch/launchers/cpu_pool.h"
#include "launch/launchers/fitness.h"
#include "launch/launchers/guarded_part.h"
#include "launch/launchers/job_login.h"
#include "launch/launchers/job_logs.h"
#include "launch/launchers/server_label.h"
#include "launch/launchers/step_meter.h"
#include "launch/launchers/steps_folders.h"
#include "topology/topology.h"

namespace starling {

struct ProcessOptions {
  std::filesystem::path
      logs;  ///< folder for the jobs' output; also tells this executor's processes from others'
  std::filesystem::path parts;      ///< folder for what guardians share with us; empty: logs/parts
  std::filesystem::path gpu_locks;  ///< folder for one lock per GPU and slot; empty: none are taken
  IndexRange gpus{0, 0};            ///< of this executor: those that are bad when it is unfit
  std::uint32_t jobs_per_gpu = 1;
  LogLimits log_limits;
  std::size_t log_tail_bytes = 4096;              ///< of a log; they come back with an exit
  Duration poll = std::chrono::milliseconds(20);  ///< between two looks at what runs
  double speedup = 1;   ///< of the launcher's clock, in its seconds per second of the machine
  bool cgroups = true;  ///< where they can be had
  Duration stuck = std::chrono::seconds(10);  ///< beyond force: then its GPUs are told to be bad
  Fitness::Pauses pauses;
  std::function<void(const std::string&)>
      notice;                                    ///< said to an operator, once each; unset: to none
  std::function<ServerLabel(ServerId)> label;    ///< of a server of this executor; unset: plain
  std::function<std::string(ServerId)> address;  ///< of a server, for MASTER_ADDR; unset: 127.0.0.1
};

/// Real processes: one per worker, each in its own session and group, told its part as
/// worker_environment.h says, and above them a guardian for each part (launch/guardian/guardian.h).
/// Output of all workers of a part goes to logs/<job>.<attempt>.<server>.log. A part ends when all
/// its workers and all that they started are gone; the first worker that fails ends the others and
/// gives the exit code. A command that counts its steps (STARLING_STEPS) is measured.
///
/// A job whose user is proven (JobSpec::as_user) runs as that user, where this process is root's:
/// with its groups, its home, and no way to what is ours.
///
/// Parts survive this object and its process; the next one on the same `parts` takes them up again.
/// What a killed guardian left is killed first of all, when this is opened. A part whose guardian
/// is gone without a result is over, and lost, only when no process of it is found any more. A
/// machine that cannot start processes says that all its GPUs are bad until it can. One such object
/// per process.
class ProcessLauncher final : public Launcher {
 public:
  /// The folders exist or can be made, else `io`. `topology` and `clock` outlive it.
  static Result<std::unique_ptr<ProcessLauncher>> open(ProcessOptions options,
                                                       const Topology& topology,
                                                       const Clock& clock);
  ~ProcessLauncher() override;
  ProcessLauncher(const ProcessLauncher&) = delete;
  ProcessLauncher& operator=(const ProcessLauncher&) = delete;

  /// `invalid` for a job without a command, or of a user that nothing can run as here; `io` if the
  /// operating system refuses.
  Status start(const LaunchSpec& spec) override;
  void stop(AttemptId attempt, Duration grace) override;
  void renew(AttemptId attempt, Instant until) override;
  void signal(AttemptId attempt, std::uint32_t number) override;
  void adopt(std::span<const LaunchSpec> earlier) override;
  std::vector<Exit> reap() override;
  std::vector<Progress> measure() override;
  [[nodiscard]] std::optional<SickGpus> health_news() override;
  [[nodiscard]] OutputPage read_output(const ReadOutput& read) const override;
  [[nodiscard]] Instant next_deadline() const noexcept override;

  [[nodiscard]] std::filesystem::path log_file(AttemptId attempt, ServerId server) const;

 private:
  struct Part {
    explicit Part(GuardedPart part) : guarded(std::move(part)) {}
    GuardedPart guarded;
    Placement gpus;
    Instant started;
    Instant force = kNever;         // killed from here on; set once it is to stop
    Instant said = Instant::min();  // that it is to stop
    bool stopping = false;
    std::filesystem::path log, steps;  // steps empty: rank 0 is elsewhere
    bool whole = true;                 // the gang is on this server alone
    bool resized = false;              // it has other GPUs in number than the job asks for
    std::uint32_t batch = 0;           // of a step of all workers; 0: as the job asks
    StepMeter meter;
  };
  using Key = std::pair<AttemptId, ServerId>;

  ProcessLauncher(ProcessOptions options, const Topology& topology, const Clock& clock, int lock);
  [[nodiscard]] PartPlan plan_of(const LaunchSpec& spec, const JobLogin* login);
  void forget_steps(const Part& part);
  void limit(const LaunchSpec& spec, const std::string& cgroup, bool make = true);
  [[nodiscard]] Part part_of(const LaunchSpec& spec, GuardedPart guarded) const;
  void stop(Part& part, Instant force);
  void nudge(Part& part, Instant now);
  void take_up_strangers(const std::set<std::filesystem::path>& known);
  void try_out(Instant now);
  /// How it ended; nothing: a process of it is left, or may be.
  [[nodiscard]] std::optional<PartResult> over(Part& part, Instant now);
  [[nodiscard]] Exit exit_of(const Key& key, const PartResult& result) const;
  void release(const Part& part);
  /// Kills what killed guardians left to us. True: a process was found, or may be there.
  [[nodiscard]] bool orphans();
  [[nodiscard]] std::int64_t on_machine(Instant at) const;
  [[nodiscard]] Duration here(std::int64_t ns) const;
  [[nodiscard]] std::uint64_t neighbours_of(const Key& key) const;
  [[nodiscard]] ServerLabel label(ServerId server) const;
  [[nodiscard]] std::string file_name(AttemptId attempt, ServerId server) const;
  [[nodiscard]] std::string mark(const Key& key) const;
  [[nodiscard]] std::filesystem::path folder_of(const Key& key) const;

  ProcessOptions options_;
  const Topology& topology_;
  const Clock& clock_;
  bool said_unlimited_ = false;
  std::string cgroups_;  // folder for parts' cgroups; empty: none
  int lock_ = -1;        // of the folder of parts
  Descendants descendants_;
  CpuPool cpus_;
  JobLogs logs_;
  StepsFolders steps_folders_;
  Fitness fitness_;
  std::map<Key, Part> parts_;
  std::vector<Part> strangers_;  // of earlier lives, and no journal knows them
  std::optional<Part> trial_;
  std::vector<Exit> lost_;
  std::vector<std::filesystem::path> reported_;  // folders whose ends were told in the last cycle
  SickGpus bad_;                                 // as told
  Instant looked_ = Instant::min();
};

}  // namespace starling
