// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <span>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/progress_bar.h"
#include "launch/commands/commands.h"
#include "launch/runs/output.h"
#include "launch/runs/run_options.h"
#include "launch/wiring/wiring.h"

namespace starling {
namespace {

int run_sim(const RunOptions& options) {
  const PolicyRegistry policies = simulated_policies();
  auto input = read_run_input(options, policies);
  if (!input) return failed(input.error());
  RunInput& in = input.value();
  const std::string warning = misfits(in.topology, in.trace);
  if (!warning.empty() && !options.quiet) std::fprintf(stderr, "starling: %s\n", warning.c_str());
  ProgressBar progress("simulating", options.quiet);
  in.sim.progress = [&](std::uint64_t done, std::uint64_t total) { progress.update(done, total); };
  auto result = simulate(in.topology, in.trace, policies, in.sim);
  progress.finish();
  if (!result)
    return result.error().code == Errc::invalid ? bad_input(result.error().message)
                                                : work_failed(result.error().message);
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
       "starling sim --topology cluster.yaml --trace trace.csv --physics full --out results"});
  command.action([options] { return run_sim(*options); });
}

}  // namespace starling
