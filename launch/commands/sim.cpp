// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <span>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/progress_bar.h"
#include "launch/commands/commands.h"
#include "launch/commands/recording_option.h"
#include "launch/runs/output.h"
#include "launch/runs/run_options.h"
#include "launch/view/recording_file.h"
#include "launch/wiring/load_plugin.h"
#include "launch/wiring/wiring.h"
#include "sim/run/run_recorder.h"
#include "workload/text/text_file.h"

namespace starling {
namespace {

int run_sim(RunOptions options) {
  PolicyRegistry policies = simulated_policies();
  if (const Status added = add_plugin_policy(policies, options.policy); !added.ok())
    return bad_input("--policy: " + added.error().message);
  if (names_plugin(options.format)) {
    auto reader = plugin_reader(options.format);
    if (!reader) return bad_input("--format: " + reader.error().message);
    options.trace_reader = std::move(reader).value();
  }
  auto input = read_run_input(options, policies);
  if (!input) return failed(input.error());
  RunInput& in = input.value();
  const std::string warning = misfits(in.topology, in.trace, in.sim.queues);
  if (!warning.empty() && !options.quiet) std::fprintf(stderr, "starling: %s\n", warning.c_str());
  if (const Status good = check_recording(options.record); !good.ok()) return failed(good.error());
  RunRecorder recorder;
  if (!options.record.empty()) in.sim.recorder = &recorder;
  ProgressBar progress("simulating", options.quiet);
  in.sim.progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
  auto result = simulate(in.topology, in.trace, policies, in.sim);
  progress.finish();
  if (!result)
    return result.error().code == Errc::invalid ? bad_input(result.error().message)
                                                : work_failed(result.error().message);
  if (!options.record.empty()) {
    if (auto kept = write_text_file(options.record, recording_text(*recorder.recording()));
        !kept.ok())
      return failed(kept.error());
  }
  result.value().load = options.load;
  result.value().dropped = in.trace.dropped;
  return deliver(std::span(&result.value(), 1), in.topology, options.out, options.json, warning);
}

}  // namespace

void add_sim(const Command& root) {
  const auto options = std::make_shared<RunOptions>();
  const Command command = root.sub("sim", "simulate a trace on a data centre");
  add_run_options(command, *options);
  command.flag("--check", options->check, "check the safety rules after every event (slow)");
  command.examples(
      {"starling sim --topology cluster.yaml --trace trace.csv --policy consolidate --agents 4",
       "starling sim --topology cluster.yaml --trace trace.csv --physics full --out results",
       "starling sim --topology cluster.yaml --trace trace.csv --agents 4 --record run.json"});
  command.action([options] { return run_sim(*options); });
}

}  // namespace starling
