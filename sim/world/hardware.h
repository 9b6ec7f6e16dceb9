// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/executor/executor.h"
#include "base/flat_index.h"
#include "base/rng.h"
#include "interference/flows/coupled_gangs.h"
#include "interference/speed.h"
#include "sim/run/run_recorder.h"
#include "sim/world/local_clock.h"
#include "sim/world/queue.h"
#include "topology/compare.h"
#include "topology/topology.h"
#include "workload/job.h"
#include "workload/work_progress.h"

namespace starling {

/// What the world knows of one job, whatever the schedulers were told, and what became of it.
struct JobTruth {
  JobId id;
  Duration duration{0};  ///< alone, on its best placement, with `gpus` GPUs
  std::uint32_t gpus = 0;
  bool tried = false;          ///< a process of it was started, if of a part of a gang alone
  std::uint32_t attempts = 0;  ///< gangs that were whole at some instant
  Instant first_start = kNever;
  Instant completed = kNever;  ///< all its work was done
  Duration service{0};         ///< useful time on its GPUs, over all attempts
  Duration saved{0};           ///< of that: in checkpoints, so that the next attempt goes on there
  Placement placement;         ///< of the last attempt
  bool failed = false;         ///< by itself
};

/// How unkind machines and jobs are; all zero: starts and stops take no time and nothing fails.
/// What becomes of a process is drawn from its attempt and server, and of a job from its id, so
/// that asking changes nothing.
struct Manners {
  std::uint64_t seed = 0;
  Duration start{0};  ///< after its start a process works within so long
  double lost = 0;    ///< share of starts that come to nothing, by the machine's fault
  Duration stop{0};   ///< a polite end is heeded within so long
  double deaf = 0;    ///< share of processes that heed none, and end by force after the grace
  double stays = 0;   ///< share of which something stays behind that holds their GPUs
  Duration stay{0};   ///< for so long at most
  double fails = 0;   ///< share of jobs that fail by themselves: one process, with a code
};

/// A started process: the ranks of one attempt on one server.
struct SimProcess {
  AttemptId attempt;
  ServerId server;
  std::uint32_t executor = 0;
  Placement gpus;
  Demand each = {};        ///< what it needs with each of them
  Instant until = kNever;  ///< it ends by itself, on the clock of its executor's machine
  Duration grace{0};       ///< then, between the polite end and the forceful one
  enum class Phase : std::uint8_t { starts, works, ends } phase = Phase::works;
  Instant next = kNever;                ///< when it is over with starting or ending
  std::int32_t code = 0;                ///< once it ends
  bool by_force = false, lost = false;  ///< the same
  Allocation allocation = {};           ///< that it was started with
};

/// The GPUs and processes of the simulated world; behind every executor's Launcher.
///
/// A gang starts to move when the last of its processes has started, moves at the speed of its
/// slowest share, and ends everywhere at the same instant. Where Physics does not vary that is
/// exactly `duration` later, to the nanosecond. Where it varies, a start or an end changes the
/// speed of all that share servers with it, and, in a CoupledPhysics, links. When one process of a
/// gang is stopped the others stand still.
///
/// A job that is stopped saves its work first, one whose machine loses power does not. An attempt
/// goes on where the last save was, whatever its scheduler believes that it has done.
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
  /// From now on: what runs goes on as it began.
  void set_manners(const Manners& manners) { manners_ = manners; }
  /// What the executor's machine takes for time; it outlives this. Deadlines of processes are read
  /// against it, whatever the executor does. Without one they never come.
  void set_clock(std::uint32_t executor, const LocalClock& clock) { clocks_[executor] = &clock; }
  /// The clock of a machine goes otherwise from now on.
  void clock_changed(std::uint32_t executor) { watch(executor); }

  // What Launcher asks for. A full GPU refuses another process: `conflict`, counted as an
  // overlap.
  Status start(std::uint32_t executor, const LaunchSpec& spec);
  void stop(std::uint32_t executor, AttemptId attempt, Duration grace = Duration{0}) {
    stop(executor, attempt, grace, false);
  }
  void renew(std::uint32_t executor, AttemptId attempt, Instant until);
  [[nodiscard]] std::vector<Exit> reap(std::uint32_t executor);
  void adopt(std::uint32_t executor, std::span<const LaunchSpec> ran);
  [[nodiscard]] std::vector<Progress> measure(std::uint32_t executor);

  /// The machines are others now: `topology`, which was given to the constructor, says so already,
  /// and `numbers` what has become of the earlier ones. What runs goes on, by `physics`, which
  /// outlives this. The first process on a server that has left or changed, in words; empty: none.
  [[nodiscard]] std::string change(const Physics& physics, const Renumbering& numbers);

  /// A bad GPU, or one that is well again. What runs there goes on: that it must not is the owner's
  /// business. Executors see it at their next cycle.
  void set_sick(GpuId gpu, bool sick);
  [[nodiscard]] const std::set<GpuId>& sick() const noexcept { return sick_; }
  [[nodiscard]] std::uint64_t health() const noexcept { return health_; }  ///< grows with changes
  /// The executor's machine sleeps: its processes stand still and reach no deadline. Awake again,
  /// those whose deadline has passed end before they do anything.
  void sleep(std::uint32_t executor);
  void wake(std::uint32_t executor);
  /// The executor's machine has lost power: its processes are gone and no agent is told.
  void lose_host(std::uint32_t executor);
  /// Beyond those it was made with.
  void add_job(JobTruth job);
  /// Called for each process that ends: by itself, with this code, or because it was stopped.
  using OnEnd = std::function<void(const SimProcess& process, std::int32_t code, bool stopped)>;
  void on_end(OnEnd call) { on_end_ = std::move(call); }
  /// Is told of processes and sick GPUs; null: none.
  void set_recorder(RunRecorder* recorder) { recorder_ = recorder; }

  /// A gang_end event. Returns the executors with something to reap, ascending; none for an
  /// outdated event.
  [[nodiscard]] std::span<const std::uint32_t> end(std::uint32_t gang, std::uint32_t version);
  /// A process event: what is over with starting or ending. True: the executor has something to
  /// reap.
  bool advance(std::uint32_t executor);
  /// The guardian of one of the executor's processes is killed, and the process with it.
  void kill_guardian(std::uint32_t executor, std::uint32_t which);
  /// A lapse event: ends what was not renewed, as lost. Its executor then has an exit_notice.
  void lapse(std::uint32_t executor);

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
  /// When the last gang that moves ends, at the pace of now; the beginning of time: none moves.
  [[nodiscard]] Instant last_end() const;
  /// Grows with every start and end.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  /// Every live process, for the checker. Those of a machine that sleeps do nothing.
  [[nodiscard]] std::vector<SimProcess> processes() const;
  /// The first process that was to start on a full GPU, in words; empty: none.
  [[nodiscard]] const std::string& overlap() const noexcept { return overlap_; }
  /// The first attempt that was started as one of a job that has done more than was ever saved of
  /// it, in words; empty: none.
  [[nodiscard]] const std::string& overclaimed() const noexcept { return overclaimed_; }

 private:
  struct Gang {
    AttemptId attempt;
    std::uint32_t row = 0;
    std::uint32_t version = 0;  // of its end event
    bool live = false;          // has processes
    bool moving = false;
    bool stalled = false;    // a process was stopped: never moves again
    bool powerless = false;  // a process was lost with its machine before the gang was stopped
    bool begun = false;      // was whole at some instant
    bool scheduled = false;  // has an end event
    WorkProgress work;       // of this attempt; resumed when it moves again
    Duration before{0};      // saved by earlier attempts
    Duration startup{0};     // from its beginning to its first iteration
    Placement gpus;          // of the whole gang
    Allocation allocation;   // that its first process was started with
    std::uint32_t started_gpus = 0;
    std::vector<SimProcess> processes;
    std::vector<std::uint32_t> servers;
  };

  Gang& gang_of(const LaunchSpec& spec);
  /// `late`: so much later than it should have been told, because its machine slept.
  void stop(std::uint32_t executor, AttemptId attempt, Duration grace, bool lost,
            Duration late = Duration{0});
  /// How long the process takes to end, from when it is told to.
  [[nodiscard]] Duration dying(const SimProcess& process, Duration grace) const;
  enum Fate : std::uint64_t { kStarts = 1, kStops, kStays, kFails, kWhoFails };
  [[nodiscard]] Rng fate_of(AttemptId attempt, ServerId server, std::uint64_t of) const;
  /// The work that the job does until it ends or fails.
  [[nodiscard]] Duration until_end(std::uint32_t row) const;
  void end_in(SimProcess& process, Duration wait);
  void work(std::uint32_t index, SimProcess& process);
  void watch(std::uint32_t executor);
  void begin(std::uint32_t index);
  void go_on(std::uint32_t index);
  [[nodiscard]] std::vector<std::uint32_t> gangs_on(std::uint32_t executor) const;
  /// Some of the gang's processes there are no more.
  void gone_from(std::uint32_t executor, const Gang& gang);
  [[nodiscard]] bool asleep(const Gang& gang) const;
  void account(Gang& gang);
  [[nodiscard]] double measured(const Gang& gang) const;
  void halt(std::uint32_t index);
  void schedule_end(std::uint32_t index);
  void remove(std::uint32_t index);
  void settle(std::uint32_t index, bool joins);
  [[nodiscard]] std::set<std::uint32_t> beside(const Gang& gang) const;
  [[nodiscard]] double rate_of(std::uint32_t index, const Neighbours& beside) const;
  void rerate(std::uint32_t index);
  void couple();
  void finish_process(const SimProcess& process, const Gang& gang, std::int32_t code, bool stopped,
                      bool lost = false);

  const Topology& topology_;
  const Physics* physics_;
  EventQueue& queue_;
  const SimClock& clock_;
  std::vector<JobTruth> jobs_;
  FlatIndex<JobId> rows_;
  std::vector<Gang> gangs_;
  std::vector<std::uint32_t> free_gangs_;
  std::map<AttemptId, std::uint32_t> by_attempt_;
  std::vector<std::map<AttemptId, std::uint32_t>> there_;  // by executor: with a process there
  std::uint32_t jobs_per_gpu_;
  std::vector<std::uint8_t> on_gpu_;                // processes, by GPU
  std::vector<std::set<std::uint32_t>> on_server_;  // moving gangs; only where physics varies
  std::map<std::uint32_t, JobProfile> profiles_;    // by gang; only where physics varies
  const CoupledPhysics* coupling_ = nullptr;        // where gangs share links
  std::unique_ptr<CoupledGangs> coupled_;           // then: those that move
  std::vector<std::vector<Exit>> exits_;            // by executor
  Manners manners_;
  std::set<std::uint32_t> sleeping_;       // executors
  std::vector<const LocalClock*> clocks_;  // by executor; null: no deadlines
  std::vector<Instant> lapse_at_;          // by executor: the one lapse event that counts
  std::vector<std::uint32_t> woken_;
  std::uint32_t busy_ = 0, moving_ = 0;
  std::uint64_t changes_ = 0;
  std::string overlap_, overclaimed_;
  OnEnd on_end_;
  RunRecorder* recorder_ = nullptr;
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
  void stop(AttemptId attempt, Duration grace) override {
    hardware_.stop(executor_, attempt, grace);
  }
  void renew(AttemptId attempt, Instant until) override {
    hardware_.renew(executor_, attempt, until);
  }
  void adopt(std::span<const LaunchSpec> ran) override {
    told_ = 0;  // a new life of the executor knows nothing
    hardware_.adopt(executor_, ran);
  }
  std::vector<Exit> reap() override { return hardware_.reap(executor_); }
  std::vector<Progress> measure() override { return hardware_.measure(executor_); }
  std::optional<SickGpus> health_news() override {
    if (std::exchange(told_, hardware_.health()) == hardware_.health()) return std::nullopt;
    return SickGpus{Placement(hardware_.sick().begin(), hardware_.sick().end())};
  }

 private:
  std::uint32_t executor_;
  Hardware& hardware_;
  std::uint64_t told_ = 0;
};

}  // namespace starling
