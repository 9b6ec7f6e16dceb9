#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/executor.h"
#include "base/time.h"
#include "launch/launchers/cpu_pool.h"
#include "launch/launchers/step_meter.h"
#include "topology/topology.h"

namespace starling {

struct ProcessOptions {
  std::filesystem::path
      logs;  ///< folder for the jobs' output; also tells this executor's processes from others'
  std::size_t log_tail_bytes = 4096;              ///< of them come back with an exit
  Duration poll = std::chrono::milliseconds(20);  ///< between two looks at what runs
  std::function<std::string(ServerId)> address;  ///< of a server, for MASTER_ADDR; unset: 127.0.0.1
};

/// Real processes: one per worker, each in its own session and group, told its part as
/// worker_environment.h says. Output of all workers of a part goes to
/// logs/<job>.<attempt>.<server>.log. A part ends when all its workers and all that they started
/// are gone; the first worker that fails ends the others and gives the exit code. A command that
/// counts its steps (STARLING_STEPS) is measured.
///
/// Nothing outlives this executor: workers die with the thread that started them, and what escaped
/// that is killed by the next ProcessLauncher on the same `logs`. One such object per process.
class ProcessLauncher final : public Launcher {
 public:
  /// `logs` exists or can be made, else `io`. `topology` and `clock` outlive it.
  static Result<std::unique_ptr<ProcessLauncher>> open(ProcessOptions options,
                                                       const Topology& topology,
                                                       const Clock& clock);
  /// Kills what still runs.
  ~ProcessLauncher() override;
  ProcessLauncher(const ProcessLauncher&) = delete;
  ProcessLauncher& operator=(const ProcessLauncher&) = delete;

  /// `invalid` for a job without a command; `io` if the operating system refuses.
  Status start(const LaunchSpec& spec) override;
  void stop(AttemptId attempt, Duration grace) override;
  void adopt(std::span<const LaunchSpec> earlier) override;  ///< all lost
  std::vector<Exit> reap() override;
  std::vector<Progress> measure() override;
  [[nodiscard]] Instant next_deadline() const noexcept override;

  [[nodiscard]] std::filesystem::path log_file(AttemptId attempt, ServerId server) const;

 private:
  struct Worker {
    pid_t pid = 0;  // and group
    bool ended = false;
    bool gone = false;  // its group too
    std::vector<int> cpus;
  };
  struct Part {
    std::vector<Worker> workers;
    Instant started;
    Instant force = kNever;  // SIGKILL from here on; set once it is to stop
    bool stopping = false;
    bool forced = false;
    bool failed = false;
    ExitStatus exit;
    std::string mark;
    std::filesystem::path steps;  // empty: rank 0 is elsewhere
    bool whole = true;            // the gang is on this server alone
    StepMeter meter;
  };
  using Key = std::pair<AttemptId, ServerId>;

  ProcessLauncher(ProcessOptions options, const Topology& topology, const Clock& clock);
  void stop(Part& part, Instant force);
  bool look(Part& part, Instant now);
  [[nodiscard]] std::uint64_t neighbours_of(const Key& key) const;
  [[nodiscard]] std::string mark(const Key& key) const;

  ProcessOptions options_;
  const Topology& topology_;
  const Clock& clock_;
  CpuPool cpus_;
  std::map<Key, Part> parts_;
  std::vector<Exit> lost_;
  Instant looked_ = Instant::min();
};

}  // namespace starling
