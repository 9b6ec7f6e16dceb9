// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>

#include "base/short_number.h"
#include "launch/chaos/scenario/load_scenario.h"
#include "launch/chaos/simulated/counterparts.h"
#include "launch/chaos/simulated/simulate_scenario.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/junit.h"
#include "launch/command_line/out_file.h"
#include "launch/command_line/progress_bar.h"
#include "launch/commands/chaos/seed_runs.h"
#include "launch/commands/commands.h"
#include "launch/commands/recording_option.h"
#include "launch/runs/chaos_report.h"
#include "launch/system/files.h"
#include "launch/system/text.h"
#include "launch/view/recording_file.h"
#include "launch/wiring/wiring.h"
#include "sim/chaos/chaos_faults.h"
#include "sim/chaos/chaos_shrink.h"
#include "sim/run/run_recorder.h"
#include "workload/text/text_file.h"

namespace starling {
namespace {

struct Options {
  std::uint32_t seeds = 100, minutes = 10, processes = 1, shrink_s = 60;
  std::uint32_t agents = 0, executors = 0, gangs = 0;
  std::uint64_t first_seed = 1, frames_each = 0;
  std::string policy, without, only, keep, junit, scenario, record;
  bool demo = false, leave_out = false;
  bool json = false, quiet = false, require_coverage = false, list = false;
};

ChaosOptions chaos_of(const Options& o) {
  ChaosOptions chaos;
  chaos.first_seed = o.first_seed;
  chaos.seeds = o.seeds;
  chaos.faults_last = std::chrono::minutes(o.minutes);
  chaos.policy = o.policy;
  chaos.without = names_in(o.without);
  chaos.only = names_in(o.only);
  chaos.demo = o.demo;
  chaos.agents = o.agents;
  chaos.executors_each = o.executors;
  chaos.jobs = o.gangs;
  return chaos;
}

/// The arguments that repeat it, after "starling chaos sim".
std::string scenario_arguments(std::uint64_t seed, const Options& o) {
  std::string line =
      "--scenario " + o.scenario + " --first-seed " + std::to_string(seed) + " --seeds 1";
  if (o.leave_out) line += " --leave-out";
  if (!o.policy.empty()) line += " --policy " + o.policy;
  if (o.agents > 0) line += " --agents " + std::to_string(o.agents);
  if (o.executors > 0) line += " --executors " + std::to_string(o.executors);
  if (o.demo) line += " --demo";
  return line;
}

/// What the seeds of one command run: drawn, or a scenario.
struct Plan {
  ChaosOptions chaos;
  PolicyRegistry policies = all_policies();
  std::optional<chaos_live::ChaosScenario> scenario;

  [[nodiscard]] ChaosRun run(std::uint64_t seed) const {
    // Policies have been looked at before.
    if (!scenario) return run_chaos_seed(seed, policies, chaos).value();
    chaos_live::ChaosScenario one = *scenario;
    one.seed = seed;
    return simulate_scenario(one, policies, chaos).value();
  }
};

ChaosFinding finding_of(const ChaosRun& run, const Options& o, const Plan& plan) {
  if (plan.scenario) return {*run.failure, scenario_arguments(run.seed, o)};
  ChaosFinding found{*run.failure, chaos_arguments(run.seed, plan.chaos)};
  if (o.shrink_s == 0) return found;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(o.shrink_s);
  const ShrunkChaos small = shrink_chaos(
      plan.chaos, run,
      [&](const ChaosOptions& options) {
        ChaosRun result;
        SeedRuns runs{options.first_seed, 1, 1, [&](std::uint64_t seed) {
                        return run_chaos_seed(seed, plan.policies, options).value();
                      }};
        const auto keep = [&](ChaosRun r, double) { result = std::move(r); };
        if (!runs.each(keep).ok()) result = ChaosRun{};
        return result;
      },
      [&] { return std::chrono::steady_clock::now() >= end; });
  return {small.failure, chaos_arguments(run.seed, small.options)};
}

JunitCase case_of(const ChaosRun& run, double wall_s) {
  JunitCase one{"seed " + std::to_string(run.seed), wall_s, "", ""};
  one.properties = {{"simulated_s", short_number(run.simulated_s)}};
  if (run.failure) {
    one.rule = run.failure->rule;
    one.message = run.failure->message;
  }
  return one;
}

std::string kept_seeds(const std::string& folder) { return folder + "/chaos_seeds.txt"; }

/// One line per failing seed, as the tests read them.
Status append_kept(const std::string& folder, const ChaosFinding& finding) {
  std::ofstream file(kept_seeds(folder), std::ios::app);
  file << finding.arguments << "  # " << finding.failure.rule << ": "
       << finding.failure.message.substr(0, 120) << '\n';
  file.flush();
  if (file) return done();
  return {Errc::io, "--keep: " + kept_seeds(folder) + " cannot be written"};
}

int list_faults() {
  for (const FaultKind& kind : fault_kinds())
    std::printf("%-16s %s\n", kind.name.c_str(), kind.what.c_str());
  return kDone;
}

/// The first name that is none of a kind of fault, nor the number of some.
std::optional<std::string> unknown_fault(const std::string& names) {
  for (const std::string& name : names_in(names)) {
    bool known = false;
    for (const FaultKind& kind : fault_kinds())
      known = known || kind.name == name || kind.name.starts_with(name + "-");
    if (!known) return name;
  }
  return std::nullopt;
}

/// Prints the report and gives the exit code.
int verdict(const ChaosReport& report, const std::vector<ChaosFinding>& findings,
            const Options& o) {
  o.json ? print_chaos_json(report, findings) : print_chaos_table(report, findings);
  if (o.demo && !o.json && report.failures > 0) {
    std::printf(
        "these failures were wanted (--demo): once, while an executor is down, its machine starts "
        "a "
        "process that no owner ordered\n");
  }
  const std::vector<std::string> missed = frames_missed(report, o.frames_each);
  for (const std::string& what : missed)
    std::fprintf(stderr, "starling: --frames-each %llu: %s\n",
                 static_cast<unsigned long long>(o.frames_each), what.c_str());
  const std::size_t unpassed = o.require_coverage ? marks_missed(report).size() : 0;
  if (unpassed > 0)
    return work_failed("--require-coverage: " + with_commas(unpassed) +
                       (unpassed == 1 ? " mark of the cores was" : " marks of the cores were") +
                       " never passed; give more --seeds");
  return report.failures == 0 && missed.empty() ? kDone : kWorkFailed;
}

/// What the command line says, read and looked at; else the exit code.
std::optional<int> read(const Command& sim, const Options& o, Plan& plan) {
  plan.chaos = chaos_of(o);
  if (!o.policy.empty()) {
    if (const auto policy = plan.policies.make(o.policy); !policy)
      return bad_input("--policy: " + policy.error().message);
  }
  // Hours of seeds are not to end with a verdict that goes nowhere.
  if (!o.junit.empty()) {
    if (const Status good = check_out_file(o.junit, OutKind::verdicts); !good)
      return bad_input("chaos sim: --junit: " + good.error().message);
  }
  if (!o.keep.empty()) {
    if (const Status good = check_out_file(kept_seeds(o.keep)); !good)
      return bad_input("chaos sim: --keep: " + good.error().message);
  }
  if (!o.record.empty()) {
    if (o.seeds != 1 || !o.scenario.empty())
      return bad_input("chaos sim: --record: of one drawn seed; give --first-seed S --seeds 1");
    if (const Status good = check_recording(o.record); !good.ok())
      return bad_input("chaos sim: " + good.error().message);
  }
  for (const auto& [option, names] : {std::pair("--without", o.without), {"--only", o.only}}) {
    if (const auto unknown = unknown_fault(names))
      return bad_input(std::string(option) + ": no fault is called '" + *unknown + "'; see --list");
  }
  if (o.scenario.empty()) {
    if (o.leave_out) return bad_input("--leave-out: only with --scenario FILE|NAME");
    return std::nullopt;
  }
  for (const char* drawn : {"--minutes", "--without", "--only", "--gangs", "--shrink", "--keep"}) {
    if (sim.given(drawn))
      return bad_input(std::string(drawn) +
                       ": a scenario says that itself, or has no use for it; "
                       "leave it out");
  }
  auto scenario = chaos_live::load_scenario(o.scenario);
  if (!scenario) return failed(scenario.error());
  plan.scenario = std::move(scenario).value();
  for (const std::string& note : plan.scenario->notes) std::fprintf(stderr, "%s\n", note.c_str());
  chaos_live::FlockShape& flock = plan.scenario->flock;
  if (!o.policy.empty()) flock.policy = o.policy;
  if (o.agents > 0) flock.agents = o.agents;
  if (o.executors > 0) flock.executors = flock.agents * o.executors;
  flock.executors = std::max(flock.executors, flock.agents);
  if (!sim.given("--first-seed")) plan.chaos.first_seed = plan.scenario->seed;
  if (!sim.given("--seeds")) plan.chaos.seeds = 1;
  const auto missing = chaos_live::without_counterpart(*plan.scenario);
  if (missing.empty() || o.leave_out) return std::nullopt;
  std::string text = o.scenario + ": what a simulation has nothing for:";
  for (const std::string& what : missing) text += "\n  " + what;
  return bad_input(text + "\ngive --leave-out to play the rest");
}

/// The seed once more, watched: it is the same.
Status record_seed(const Plan& plan, const std::string& file) {
  RunRecorder recorder;
  ChaosOptions watched = plan.chaos;
  watched.twice_every = 0;
  watched.recorder = &recorder;
  if (auto ran = run_chaos_seed(watched.first_seed, plan.policies, watched); !ran)
    return ran.error();
  return write_text_file(file, recording_text(*recorder.recording()));
}

int chaos_sim(const Command& sim, const Options& o) {
  if (o.list) return list_faults();
  Plan plan;
  if (const auto wrong = read(sim, o, plan)) return *wrong;
  ProgressBar progress("seeds", o.quiet);
  std::vector<ChaosRun> failing;
  ChaosReport report;
  if (plan.scenario) {
    report.scenario = plan.scenario->name;
    report.left_out = chaos_live::without_counterpart(*plan.scenario);
  }
  std::vector<JunitCase> cases;
  const auto tell = [&](const std::string& more) {
    progress.update(report.seeds, plan.chaos.seeds,
                    std::to_string(report.failures) + " failed" + more);
  };
  const SeedRuns runs{plan.chaos.first_seed, plan.chaos.seeds, o.processes,
                      [&](std::uint64_t seed) { return plan.run(seed); },
                      [&](std::uint64_t seed, double wall_s) {
                        tell(", seed " + std::to_string(seed) + " for " + human_seconds(wall_s));
                      }};
  const Status ran = runs.in_order([&](const ChaosRun& run, double wall_s) {
    report.add(run);
    if (!o.junit.empty()) cases.push_back(case_of(run, wall_s));
    if (run.failure && failing.size() < 10) failing.push_back(run);
    tell("");
  });
  if (!ran.ok()) return failed(ran.error());
  progress.finish();
  std::vector<ChaosFinding> findings;
  for (const ChaosRun& run : failing) {
    findings.push_back(finding_of(run, o, plan));
    if (o.keep.empty()) continue;
    if (const Status kept = append_kept(o.keep, findings.back()); !kept.ok())
      return failed(kept.error());
  }
  if (!o.junit.empty()) {
    if (const Status s = write_text(o.junit, junit_xml("starling chaos sim", cases)); !s.ok())
      return failed(s.error());
  }
  if (!o.record.empty()) {
    if (const Status kept = record_seed(plan, o.record); !kept.ok()) return failed(kept.error());
  }
  return verdict(report, findings, o);
}

}  // namespace

void add_chaos_sim(const Command& chaos) {
  const auto o = std::make_shared<Options>();
  const Command sim = chaos.sub("sim", "faults in simulation, every event checked");
  sim.option("--seeds", o->seeds, "N", "so many runs (default 100; of a scenario 1)", 1U,
             100'000'000U);
  sim.option("--first-seed", o->first_seed, "S", "default 1; of a scenario its own",
             std::uint64_t{0}, std::uint64_t{1} << 60U);
  sim.option("--minutes", o->minutes, "M", "simulated minutes of faults per seed (default 10)", 1U,
             10'000U);
  sim.option("--policy", o->policy, "NAME[:k=v,..]", "default: drawn per seed");
  sim.option("--without", o->without, "A,B", "kinds of faults that are left out; see --list");
  sim.option("--only", o->only, "A,B", "these kinds of faults happen in every seed, and no others");
  sim.option(
      "--scenario", o->scenario, "FILE|NAME",
      "plays a scenario of 'chaos live' (docs/chaos.md): its flock, load and plan of faults");
  sim.flag("--leave-out", o->leave_out,
           "leaves out what of the scenario a simulation has nothing for");
  sim.flag("--demo", o->demo, "with a mistake to practise on, which some seeds find");
  sim.option("--agents", o->agents, "N", "default: 2 to 5, drawn", 1U, 64U);
  sim.option("--executors", o->executors, "N", "of each agent; default: 1 to 3, drawn", 1U, 64U);
  sim.option("--gangs", o->gangs, "N", "jobs per seed; default: 30 to 150, drawn", 1U, 100'000U);
  sim.option("--jobs", o->processes, "N", "seeds at a time (default 1); the report is the same", 1U,
             1024U);
  sim.option("--shrink", o->shrink_s, "S",
             "seconds to make each failing seed smaller (default 60; 0: as it is)", 0U, 86'400U);
  sim.option("--keep", o->keep, "DIR", "append failing seeds to DIR/chaos_seeds.txt");
  sim.option("--junit", o->junit, "FILE.xml", "a verdict for each seed, as CI systems read it");
  sim.option("--record", o->record, "FILE.json", "of one seed: what happened, for 'starling view'");
  sim.flag("--require-coverage", o->require_coverage,
           "fail if a mark of the cores was never passed");
  sim.option(
      "--frames-each", o->frames_each, "N",
      "fail unless each kind of message was lost, repeated, overtaken and corrupted so often",
      std::uint64_t{0}, std::uint64_t{1} << 40U);
  sim.flag("--list", o->list, "print the kinds of faults and end");
  sim.flag("--json", o->json, "only JSON on stdout");
  sim.flag("-q,--quiet", o->quiet, "no progress on stderr");
  sim.examples({"starling chaos sim --seeds 1000 --jobs 2", "starling chaos sim --demo --seeds 10",
                "starling chaos sim --scenario rack-cut --seeds 20",
                "starling chaos sim --first-seed 17 --seeds 1 --without F8,F12-rate --agents 2",
                "starling chaos sim --first-seed 17 --seeds 1 --record seed.json"});
  sim.action([o, sim] { return chaos_sim(sim, *o); });
}

}  // namespace starling
