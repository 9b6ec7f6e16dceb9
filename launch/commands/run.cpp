// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/progress_bar.h"
#include "launch/commands/commands.h"
#include "launch/commands/etcd_options.h"
#include "launch/commands/recording_option.h"
#include "launch/deployment/scaled_clock.h"
#include "launch/runs/as_live.h"
#include "launch/runs/live_run.h"
#include "launch/runs/output.h"
#include "launch/system/amount.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"
#include "launch/view/recording_file.h"
#include "launch/view/recording_of_rows.h"
#include "launch/wiring/wiring.h"
#include "workload/text/text_file.h"

namespace starling {
namespace {

struct LiveRunOptions : RunOptions {
  double speedup = 0;         ///< 0: derived
  double target_seconds = 0;  ///< 0: not given
  std::string state;
  EtcdAccess etcd;
  bool keep = false, with_sim = false;
};

Status check_live(const LiveRunOptions& o, const RunInput& input) {
  if (o.speedup > 0 && o.target_seconds > 0)
    return {Errc::invalid, "--speedup and --target-seconds say the same thing; give one of them"};
  if (!o.network.empty() && o.network != "ideal" && o.network != "lan") {
    return {Errc::invalid,
            "--network FILE is for 'starling sim'; a live run has the network that there is"};
  }
  if (!o.faults.empty()) return {Errc::invalid, "--faults is for 'starling sim'"};
  if (input.sim.physics == PhysicsKind::measured || input.sim.physics == PhysicsKind::dl2)
    return {Errc::invalid, "--physics " + o.physics + " is for 'starling sim'; give trace or full"};
  if (input.sim.links != NetworkKind::even) {
    return {Errc::invalid,
            "--physics " + o.physics +
                ": an executor knows the gangs of its own servers, not what those of others send "
                "over the network; give full, or use starling sim"};
  }
  if (input.sim.straggler_sigma > 0) {
    return {Errc::invalid,
            "--physics " + o.physics +
                ": emulated jobs have no stragglers; give full, or use starling sim"};
  }
  if (input.sim.durations.kind != DurationKnowledge::exact) {
    return {Errc::invalid, "--durations " + o.durations +
                               " is for 'starling sim'; in a live run emulated jobs carry their "
                               "duration, so only exact is honest"};
  }
  return done();
}

/// What a live run cannot tell apart, in seconds of the machine: a message, a wake-up and the start
/// of an emulated job behind others that want the processor too.
constexpr double kResolution = 10e-3;

/// Of two figures that are this near the live one says nothing. Empty: all is well.
std::string too_fine(const RunInput& input, double speedup) {
  double mean = 0;
  for (const TraceJob& job : input.trace.jobs) mean += seconds(job.spec.duration);
  mean /= static_cast<double>(input.trace.jobs.size());
  const double told = kResolution * speedup;
  if (told < 0.01 * mean) return {};
  const auto wanted = static_cast<std::uint64_t>(std::max(1.0, 0.01 * mean / kResolution));
  return "the live figures are good to about " + human_seconds(told) +
         " of the trace (10 ms here), and a job takes " + human_seconds(mean) +
         " on average: shorter waits are noise; below 1 % it would be with --speedup " +
         with_commas(wanted) + " or less";
}

Result<RunResult> simulated(const RunInput& input, const PolicyRegistry& policies, SimOptions sim,
                            bool quiet) {
  ProgressBar progress("simulating", quiet);
  sim.progress = [&](std::uint64_t jobs_done, std::uint64_t total) {
    progress.update(jobs_done, total);
  };
  return simulate(input.topology, input.trace, policies, sim);
}

int run_command(const LiveRunOptions& o) {
  const PolicyRegistry policies = all_policies();
  auto input = read_run_input(o, policies);
  if (!input) return failed(input.error());
  if (auto right = check_live(o, input.value()); !right.ok()) return failed(right.error());
  if (const Status good = check_recording(o.record); !good.ok()) return failed(good.error());
  const std::string unfit =
      misfits(input.value().topology, input.value().trace, input.value().sim.queues);
  if (!unfit.empty() && !o.quiet) std::fprintf(stderr, "starling: %s\n", unfit.c_str());

  LiveOptions live{o.speedup > 0 ? o.speedup : 1, o.state, o.etcd, o.keep, o.quiet};
  std::vector<RunResult> runs;
  if (o.target_seconds > 0) {
    auto sim = simulated(input.value(), policies, input.value().sim, o.quiet);
    if (!sim) return failed(sim.error());
    live.speedup = std::max(1.0, figures(sim.value()).makespan_s / o.target_seconds);
  }
  if (o.with_sim) {
    auto sim = simulated(input.value(), policies,
                         as_live(input.value().sim, !o.network.empty(), live.speedup), o.quiet);
    if (!sim) return failed(sim.error());
    sim.value().load = o.load;
    sim.value().dropped = input.value().trace.dropped;
    runs.push_back(std::move(sim).value());
  }
  if (live.speedup > kMostSpeedup) {
    return bad_input("run: one second would stand for " +
                     with_commas(static_cast<std::uint64_t>(live.speedup)) +
                     " s of the trace; give more --target-seconds, or a --speedup of at most " +
                     with_commas(static_cast<std::uint64_t>(kMostSpeedup)));
  }
  if (!o.quiet) {
    std::fprintf(stderr, "starling: %s, %s, 1 s stands for %.0f s of the trace\n",
                 amount(input.value().trace.jobs.size(), "job").c_str(),
                 amount(input.value().sim.agents, "agent").c_str(), live.speedup);
  }
  if (const auto warning = too_fine(input.value(), live.speedup); !warning.empty())
    std::fprintf(stderr, "starling: %s\n", warning.c_str());
  catch_stop_signals();
  auto result = run_live(input.value(), policies, live);
  if (!result)
    return result.error().code == Errc::invalid ? bad_input(result.error().message)
                                                : work_failed(result.error().message);
  result.value().load = o.load;
  result.value().dropped = input.value().trace.dropped;
  result.value().resolution_s = kResolution * live.speedup;
  runs.insert(runs.begin(), std::move(result).value());
  if (!o.record.empty()) {
    const Recording rows = recording_of(runs.front(), input.value().topology);
    if (auto kept = write_text_file(o.record, recording_text(rows)); !kept.ok())
      return failed(kept.error());
  }
  return deliver(runs, input.value().topology, o.out, o.json, unfit);
}

}  // namespace

void add_run(const Command& root) {
  const auto o = std::make_shared<LiveRunOptions>();
  const Command command =
      root.sub("run", "run a trace live: agents and executors as processes on this machine");
  add_run_options(command, *o);
  command.option("--speedup", o->speedup, "X", "trace seconds per second (default 1)", 0.0);
  command.option("--target-seconds", o->target_seconds, "S",
                 "choose the speedup so that the run takes about S seconds", 0.0);
  command.option("--state", o->state, "DIR|etcd[s]://HOSTS",
                 "run directory, kept (default: a temporary one); or where the journals are");
  add_etcd_options(command, o->etcd);
  command.flag("--keep", o->keep, "keep the temporary run directory");
  command.flag("--with-sim", o->with_sim, "also simulate the same input and show both");
  command.examples(
      {"starling run --topology cluster.yaml --trace trace.csv --agents 4 --target-seconds 60 "
       "--with-sim"});
  command.action([o] { return run_command(*o); });
}

}  // namespace starling
