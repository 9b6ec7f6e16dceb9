#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agents/executor.h"
#include "interference/speed.h"
#include "sim/queue.h"
#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// What the world knows of one job, whatever the schedulers were told, and what became of it.
struct JobTruth {
  JobId id;
  Duration duration{0};  ///< alone, on its best placement, with `gpus` GPUs
  std::uint32_t gpus = 0;
  std::uint32_t attempts = 0;  ///< gangs that were whole at some instant
  Instant first_start = kNever;
  Instant completed = kNever;  ///< all its work was done
  Duration service{0};         ///< useful time on its GPUs, over all attempts
  Placement placement;         ///< of the last attempt
};

/// A started process: the ranks of one attempt on one server.
struct SimProcess {
  AttemptId attempt;
  ServerId server;
  std::uint32_t executor = 0;
  Placement gpus;
};

/// The GPUs and processes of the simulated world; behind every executor's Launcher.
///
/// A gang starts to move when the last of its processes has started, moves at the speed of its
/// slowest share, and ends everywhere at the same instant. Where Physics does not vary that is
/// exactly `duration` later, to the nanosecond. Where it varies, a start or an end changes the
/// speed of all that share servers with it. When one
/// process of a gang is stopped the others stand still.
class Hardware {
 public:
  /// At most `jobs_per_gpu` processes run on a GPU.
  Hardware(const Topology& topology, const Physics& physics, EventQueue& queue,
           const SimClock& clock, std::uint32_t executors, std::vector<JobTruth> jobs,
           std::uint32_t jobs_per_gpu = 1);
  /// Measured speeds are off by a factor of a log-normal distribution of this sigma, drawn anew for
  /// each measurement from `seed`, the attempt and the time, so that asking changes nothing.
  void set_noise(double sigma, std::uint64_t seed) { noise_ = sigma, noise_seed_ = seed; }
  /// All measured speeds are off by that factor, too: a world that is no longer as it was.
  void set_bias(double factor) { bias_ = factor; }

  // What Launcher asks for. A full GPU refuses another process: `conflict`, counted as an
  // overlap.
  Status start(std::uint32_t executor, const LaunchSpec& spec);
  void stop(std::uint32_t executor, AttemptId attempt);
  [[nodiscard]] std::vector<Exit> reap(std::uint32_t executor);
  void adopt(std::uint32_t executor, std::span<const LaunchSpec> ran);
  [[nodiscard]] std::vector<Progress> measure(std::uint32_t executor);

  /// A bad GPU, or one that is well again. What runs there goes on: that it must not is the owner's
  /// business. Executors see it at their next turn.
  void set_sick(GpuId gpu, bool sick);
  [[nodiscard]] const std::set<GpuId>& sick() const noexcept { return sick_; }
  [[nodiscard]] std::uint64_t health() const noexcept { return health_; }  ///< grows with changes
  /// The executor's machine has lost power: its processes are gone and nobody is told.
  void lose_host(std::uint32_t executor);
  /// Beyond those it was made with.
  void add_job(JobTruth job);

  /// A gang_end event. Returns the executors with something to reap, ascending; none for an
  /// outdated event.
  [[nodiscard]] std::span<const std::uint32_t> end(std::uint32_t gang, std::uint32_t version);

  [[nodiscard]] const std::vector<JobTruth>& jobs() const noexcept { return jobs_; }
  /// The row of a job in jobs(). Unknown jobs are broken invariants.
  [[nodiscard]] std::uint32_t row_of(JobId job) const;
  /// Of a job that has not completed: work that is left at speed 1, and when its gang works, which
  /// lies ahead while that starts.
  struct Left {
    Duration work{0};
    Instant from;
  };
  [[nodiscard]] Left left(JobId job) const;
  /// GPUs that run a process.
  [[nodiscard]] std::uint32_t busy_gpus() const noexcept { return busy_; }
  [[nodiscard]] std::uint32_t moving_gangs() const noexcept { return moving_; }
  /// Grows with every start and end.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  /// Every live process, for the checker.
  [[nodiscard]] std::vector<SimProcess> processes() const;
  /// The first process that was to start on a full GPU, in words; empty: none.
  [[nodiscard]] const std::string& overlap() const noexcept { return overlap_; }

 private:
  struct Gang {
    AttemptId attempt;
    std::uint32_t row = 0;
    std::uint32_t version = 0;  // of its end event
    bool live = false;          // has processes
    bool moving = false;
    bool stalled = false;    // a process was stopped: never moves again
    bool scheduled = false;  // has an end event
    Instant since{};         // the last time that service was counted
    double rate = 1;
    Duration service{0};  // in this attempt
    Duration remaining{0};
    Placement gpus;  // of the whole gang
    std::uint32_t started_gpus = 0;
    std::vector<SimProcess> processes;
    std::vector<std::uint32_t> servers;
  };

  Gang& gang_of(const LaunchSpec& spec);
  void begin(std::uint32_t index);
  void account(Gang& gang);
  /// Work done since it was last counted.
  [[nodiscard]] Duration uncounted(const Gang& gang) const;
  [[nodiscard]] double measured(const Gang& gang) const;
  void halt(std::uint32_t index);
  void schedule_end(std::uint32_t index);
  void remove(std::uint32_t index);
  void settle(std::uint32_t index, bool joins);
  [[nodiscard]] std::set<std::uint32_t> beside(const Gang& gang) const;
  void rerate(std::uint32_t index);
  void finish_process(const SimProcess& process, const Gang& gang, std::int32_t code);

  const Topology& topology_;
  const Physics& physics_;
  EventQueue& queue_;
  const SimClock& clock_;
  std::vector<JobTruth> jobs_;
  std::unordered_map<JobId, std::uint32_t> rows_;  // looked up, never walked
  std::vector<Gang> gangs_;
  std::vector<std::uint32_t> free_gangs_;
  std::map<AttemptId, std::uint32_t> by_attempt_;
  std::uint32_t jobs_per_gpu_;
  std::vector<std::uint8_t> on_gpu_;                // processes, by GPU
  std::vector<std::set<std::uint32_t>> on_server_;  // moving gangs; only where physics varies
  std::map<std::uint32_t, JobProfile> profiles_;    // by gang; only where physics varies
  std::vector<std::vector<Exit>> exits_;            // by executor
  std::vector<std::uint32_t> woken_;
  std::uint32_t busy_ = 0, moving_ = 0;
  std::uint64_t changes_ = 0;
  std::string overlap_;
  double noise_ = 0, bias_ = 1;
  std::uint64_t noise_seed_ = 0;
  std::set<GpuId> sick_;
  std::uint64_t health_ = 0;
};

/// One executor's view of the hardware.
class SimLauncher final : public Launcher {
 public:
  SimLauncher(std::uint32_t executor, Hardware& hardware)
      : executor_(executor), hardware_(hardware) {}
  Status start(const LaunchSpec& spec) override { return hardware_.start(executor_, spec); }
  void stop(AttemptId attempt, Duration) override { hardware_.stop(executor_, attempt); }
  void adopt(std::span<const LaunchSpec> ran) override {
    told_ = 0;  // a new life of the executor knows nothing
    hardware_.adopt(executor_, ran);
  }
  std::vector<Exit> reap() override { return hardware_.reap(executor_); }
  std::vector<Progress> measure() override { return hardware_.measure(executor_); }
  std::optional<Placement> health_news() override {
    if (std::exchange(told_, hardware_.health()) == hardware_.health()) return std::nullopt;
    return Placement(hardware_.sick().begin(), hardware_.sick().end());
  }

 private:
  std::uint32_t executor_;
  Hardware& hardware_;
  std::uint64_t told_ = 0;
};

}  // namespace starling
