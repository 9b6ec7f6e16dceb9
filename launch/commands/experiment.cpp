// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/short_number.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/progress_bar.h"
#include "launch/command_line/results_folder.h"
#include "launch/commands/commands.h"
#include "launch/commands/show_experiment.h"
#include "launch/experiment/load_experiment.h"
#include "launch/experiment/run_grid.h"
#include "launch/experiment/set_variables.h"
#include "launch/system/text.h"
#include "launch/wiring/wiring.h"
#include "sim/simulate.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

struct ExperimentOptions {
  std::string file, out, split, set;
  std::uint32_t threads = 0;
  bool resume = false, force = false, json = false, quiet = false, dry_run = false;
};

std::string load_text(double load) { return load == 0 ? "as-is" : short_number(load); }

int run_experiment(const ExperimentOptions& options) {
  const PolicyRegistry policies = simulated_policies();
  const auto variables = read_variables(options.file, options.set);
  if (!variables) return bad_input("--set: " + options.file + ": " + variables.error().message);
  const auto experiment = load_experiment(options.file, policies, variables.value(), options.split);
  if (!experiment) return bad_input(experiment.error().message);
  for (const WorkloadSource& w : experiment.value().workloads) {
    if (!w.old_name.empty())
      std::fprintf(stderr, "starling: workload '%s': generate: %s is called %s now\n",
                   w.name.c_str(), w.old_name.c_str(), w.generator.c_str());
  }
  const auto inputs = open_inputs(experiment.value());
  if (!inputs) return bad_input(inputs.error().message);
  const auto points = expand(experiment.value(), inputs.value());
  if (!points) return bad_input(points.error().message);
  if (options.resume && options.force)
    return bad_input("--resume keeps the runs that are there, --force removes them; give one");
  if (options.dry_run) {
    for (const RunPoint& point : points.value()) {
      std::printf("%s %s %s load=%s seed=%llu agents=%u%s %s\n", point.id.c_str(),
                  point.topology.c_str(), point.workload.c_str(), load_text(point.load).c_str(),
                  static_cast<unsigned long long>(point.seed), point.agents,
                  point.faults.empty() ? "" : (" faults=" + point.faults).c_str(),
                  point.label.c_str());
    }
    return kDone;
  }

  const fs::path dir =
      options.out.empty() ? fs::path("results") / experiment.value().name : fs::path(options.out);
  if (const Status free = can_take_results(dir); !free.ok())
    return bad_input("--out: " + free.error().message);
  ProgressBar bar(experiment.value().name, options.quiet);
  GridOptions grid;
  grid.out = dir;
  grid.resume = options.resume;
  grid.force = options.force;
  grid.threads = options.threads;
  grid.progress = [&bar](std::uint64_t ran, std::uint64_t total, double left_s) {
    bar.update(ran, total, "about " + human_seconds(left_s) + " left");
  };
  grid.failed = [&bar](const RunPoint& point, const Error& error) {
    bar.finish();
    std::fprintf(stderr, "starling: run %s (%s on %s, %s, load %s, seed %llu) failed: %s\n",
                 point.id.c_str(), point.label.c_str(), point.topology.c_str(),
                 point.workload.c_str(), load_text(point.load).c_str(),
                 static_cast<unsigned long long>(point.seed), error.message.c_str());
  };
  const auto outcome =
      run_grid(experiment.value(), inputs.value(), points.value(), policies, simulate, grid);
  bar.finish();
  if (!outcome) {
    return outcome.error().code == Errc::conflict ? bad_input(outcome.error().message)
                                                  : failed(outcome.error());
  }
  const int shown = show_experiment(dir, options.json, options.quiet);
  if (shown != kDone || outcome.value().failed == 0) return shown;
  return work_failed(with_commas(outcome.value().failed) + " of " +
                     with_commas(points.value().size()) + " runs failed; the others are in " +
                     dir.string());
}

}  // namespace

void add_experiment(const Command& root) {
  const auto options = std::make_shared<ExperimentOptions>();
  const Command command =
      root.sub("experiment", "run a grid of simulations on all cores and compare the policies");
  command.positional("FILE", options->file, "the experiment: YAML, see docs/experiments.md");
  command.option("--out", options->out, "DIR", "where results go (default results/NAME)");
  command.flag("--resume", options->resume, "keep the runs that DIR has, run the others");
  command.flag("--force", options->force, "remove the runs that DIR has, and run all");
  command.option("--split", options->split, "NAME",
                 "training, validation or evaluation, instead of the file's");
  command.option("--set", options->set, "NAME=VALUE[,..]",
                 "values for ${NAME} in file names, physics and speed; a value may have commas");
  command.option("--threads", options->threads, "N", "runs at a time (default: one per core)", 1U,
                 4096U);
  command.flag("--dry-run", options->dry_run, "only list the runs");
  command.flag("--json", options->json, "only JSON on stdout");
  command.flag("-q,--quiet", options->quiet, "no progress on stderr");
  command.examples({"starling experiment examples/experiments/quick.yaml --out results/quick"});
  command.action([options] { return run_experiment(*options); });
}

}  // namespace starling
