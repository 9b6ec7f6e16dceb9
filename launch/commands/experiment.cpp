// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/short_number.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/progress_bar.h"
#include "launch/command_line/results_folder.h"
#include "launch/commands/commands.h"
#include "launch/commands/show_experiment.h"
#include "launch/commands/slurm_array.h"
#include "launch/experiment/load_experiment.h"
#include "launch/experiment/merge_parts.h"
#include "launch/experiment/run_grid.h"
#include "launch/experiment/set_variables.h"
#include "launch/processes/supervisor.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"
#include "launch/wiring/load_plugin.h"
#include "launch/wiring/wiring.h"
#include "sim/simulate.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

struct ExperimentOptions {
  std::vector<std::string> words;  ///< the file, or with --merge the folders of the parts
  std::string out, split, set;
  std::optional<std::string> part, share, on;
  std::string slurm_options;
  std::uint32_t threads = 0, parts = 0;
  bool resume = false, force = false, json = false, quiet = false, dry_run = false;
  bool merge = false, incomplete = false;
};

std::string load_text(double load) { return load == 0 ? "as-is" : short_number(load); }

/// What contradicts something else on the command line, in words; empty: nothing does.
std::string contradiction(const ExperimentOptions& o) {
  const bool divided = o.part || o.share || o.on;
  if (o.on && *o.on != "slurm") return "--on: '" + *o.on + "' is unknown; give slurm";
  if (o.on && (o.part || o.share))
    return "--on slurm makes the parts itself; leave --part and --share out";
  if (o.on && o.force)
    return "--on slurm goes on where it ended; remove the folder to run all anew";
  if (o.on && o.parts == 0) return "--on slurm: say by --parts N how many tasks there are to be";
  if (!o.on && (o.parts > 0 || !o.slurm_options.empty()))
    return "--parts and --slurm-options are for --on slurm";
  if (o.resume && o.force)
    return "--resume keeps the runs that are there, --force removes them; give one";
  if (o.part && o.share)
    return "--part does the runs of one part, --share any that no other process does; give one";
  if (o.share && !o.out.empty()) return "--share says where results go; leave --out out";
  if (o.share && o.force)
    return "--force would remove what others do in the folder of --share; give a new folder";
  if (o.incomplete && !o.merge) return "--incomplete is for --merge";
  if (!o.merge) {
    if (o.words.size() == 1) return "";
    return o.words.empty() ? "FILE is missing: the experiment, a YAML file"
                           : "one FILE at a time; folders of parts are for --merge";
  }
  if (divided || o.resume || o.force || o.dry_run || !o.split.empty() || !o.set.empty() ||
      o.threads > 0)
    return "--merge takes what parts have left, and runs nothing; it goes with --out, "
           "--incomplete, --json and --quiet alone";
  if (o.words.empty()) return "--merge: name the folders that the parts left";
  if (o.out.empty()) return "--merge: say by --out where the whole goes";
  return "";
}

int merge(const ExperimentOptions& options) {
  if (const Status free = can_take_results(options.out); !free.ok())
    return bad_input("--out: " + free.error().message);
  const std::vector<fs::path> parts(options.words.begin(), options.words.end());
  const auto merged = merge_parts(parts, {options.out, options.incomplete});
  if (!merged) {
    return merged.error().code == Errc::io ? failed(merged.error())
                                           : bad_input("--merge: " + merged.error().message);
  }
  return show_experiment(options.out, options.json, options.quiet);
}

/// What a part has done. Its tables are those of the merge.
int tell_part(const ExperimentOptions& options, const GridOutcome& outcome, const fs::path& dir) {
  const std::string part = *options.part;
  if (options.json) {
    const nlohmann::ordered_json told{{"schema", 1},
                                      {"part", part},
                                      {"folder", dir.string()},
                                      {"ran", outcome.ran},
                                      {"skipped", outcome.skipped},
                                      {"failed", outcome.failed}};
    std::printf("%s\n", told.dump(1).c_str());
  } else {
    std::printf("part %s: %s runs done (%s of them before), %s failed, in %s\n", part.c_str(),
                with_commas(outcome.ran + outcome.skipped).c_str(),
                with_commas(outcome.skipped).c_str(), with_commas(outcome.failed).c_str(),
                dir.c_str());
  }
  if (outcome.failed == 0) return kDone;
  return work_failed(with_commas(outcome.failed) + " runs of part " + part + " failed");
}

/// Of the part: runs without a record, by whatever program; a task refuses another's itself.
std::uint64_t without_record(const std::vector<RunPoint>& points, const fs::path& dir,
                             const GridPart& part) {
  std::uint64_t left = 0;
  for (const std::size_t i : runs_of(points, part)) {
    std::error_code ignored;
    left += fs::exists(dir / "runs" / (points[i].id + ".json"), ignored) ? 0 : 1;
  }
  return left;
}

/// All parts as an array of Slurm, into one folder.
int on_slurm(const ExperimentOptions& o, const std::string& name,
             const std::vector<RunPoint>& points, const fs::path& dir) {
  SlurmArray array;
  array.name = name;
  array.out = fs::absolute(dir);
  array.command = {own_program(), "experiment", fs::absolute(o.words.front()).string()};
  if (!o.set.empty()) array.command.insert(array.command.end(), {"--set", o.set});
  if (!o.split.empty()) array.command.insert(array.command.end(), {"--split", o.split});
  if (o.threads > 0)
    array.command.insert(array.command.end(), {"--threads", std::to_string(o.threads)});
  array.parts = o.parts;
  array.options = o.slurm_options;
  array.left = [&] {
    std::vector<std::uint32_t> parts;
    for (std::uint32_t k = 1; k <= o.parts; ++k) {
      if (without_record(points, dir, {k, o.parts}) > 0) parts.push_back(k);
    }
    return parts;
  };
  array.runs_left = [&] { return without_record(points, dir, {}); };
  array.say = [&](const std::string& line) {
    if (!o.quiet) std::fprintf(stderr, "starling: %s\n", line.c_str());
  };
  catch_stop_signals();
  const Status ran = run_array(array);
  if (!ran.ok() && (ran.error().code == Errc::busy || !fs::exists(dir / "experiment.json")))
    return work_failed(ran.error().message);
  const int shown = show_experiment(dir, o.json, o.quiet);
  return ran.ok() ? shown : work_failed(ran.error().message);
}

struct Grid {
  Experiment experiment;
  Inputs inputs;
  std::vector<RunPoint> points;
};

Result<Grid> read_grid(const ExperimentOptions& options, const PolicyRegistry& policies) {
  const std::string& file = options.words.front();
  const auto variables = read_variables(file, options.set);
  if (!variables) return {Errc::invalid, "--set: " + file + ": " + variables.error().message};
  auto experiment = load_experiment(file, policies, variables.value(), options.split);
  if (!experiment) return experiment.error();
  for (const WorkloadSource& w : experiment.value().workloads) {
    if (!w.old_name.empty())
      std::fprintf(stderr, "starling: workload '%s': generate: %s is called %s now\n",
                   w.name.c_str(), w.old_name.c_str(), w.generator.c_str());
  }
  auto inputs = open_inputs(experiment.value());
  if (!inputs) return inputs.error();
  auto points = expand(experiment.value(), inputs.value());
  if (!points) return points.error();
  return Grid{std::move(experiment).value(), std::move(inputs).value(), std::move(points).value()};
}

int list_runs(const Grid& grid, const GridPart& part) {
  for (const std::size_t i : runs_of(grid.points, part)) {
    const RunPoint& point = grid.points[i];
    std::printf("%s %s %s load=%s seed=%llu agents=%u%s %s\n", point.id.c_str(),
                point.topology.c_str(), point.workload.c_str(), load_text(point.load).c_str(),
                static_cast<unsigned long long>(point.seed), point.agents,
                point.faults.empty() ? "" : (" faults=" + point.faults).c_str(),
                point.label.c_str());
  }
  return kDone;
}

fs::path folder_of(const ExperimentOptions& options, const std::string& name) {
  if (options.share) return *options.share;
  if (!options.out.empty()) return options.out;
  std::string folder = name;
  if (options.part) {
    const std::size_t slash = options.part->find('/');
    folder += "-" + options.part->substr(0, slash) + "-of-" + options.part->substr(slash + 1);
  }
  return fs::path("results") / folder;
}

int run_experiment(const ExperimentOptions& options) {
  if (const std::string wrong = contradiction(options); !wrong.empty())
    return bad_input("experiment: " + wrong);
  if (options.merge) return merge(options);
  const auto part = options.part ? read_part(*options.part) : Result<GridPart>(GridPart{});
  if (!part) return bad_input("--part: " + part.error().message);
  PolicyRegistry policies = simulated_policies();
  for (const std::string& policy : policies_in(options.words.front())) {
    if (const Status added = add_plugin_policy(policies, policy); !added.ok())
      return bad_input(options.words.front() + ": " + added.error().message);
  }
  const auto read = read_grid(options, policies);
  if (!read) return bad_input(read.error().message);
  const Grid& all = read.value();
  if (options.dry_run) return list_runs(all, part.value());

  const fs::path dir = folder_of(options, all.experiment.name);
  if (const Status free = can_take_results(dir); !free.ok())
    return bad_input((options.share ? "--share: " : "--out: ") + free.error().message);
  if (options.on) return on_slurm(options, all.experiment.name, all.points, dir);
  ProgressBar bar(all.experiment.name, options.quiet);
  GridOptions grid;
  grid.out = dir;
  grid.resume = options.resume;
  grid.force = options.force;
  grid.part = part.value();
  grid.share = options.share.has_value();
  grid.threads = options.threads;
  grid.progress = [&bar](std::uint64_t ran, std::uint64_t total, double left_s) {
    bar.update(ran, total, "about " + human_seconds(left_s) + " left");
  };
  grid.failed = [&bar](const RunPoint& point, const Error& error) {
    bar.finish();
    std::fprintf(stderr, "starling: run %s (%s) failed: %s\n", point.id.c_str(),
                 in_words(point).c_str(), error.message.c_str());
  };
  const auto outcome = run_grid(all.experiment, all.inputs, all.points, policies, simulate, grid);
  bar.finish();
  if (!outcome) {
    return outcome.error().code == Errc::conflict ? bad_input(outcome.error().message)
                                                  : failed(outcome.error());
  }
  if (options.part) return tell_part(options, outcome.value(), dir);
  const int shown = show_experiment(dir, options.json, options.quiet);
  if (shown != kDone || outcome.value().failed == 0) return shown;
  return work_failed(with_commas(outcome.value().failed) + " of " + with_commas(all.points.size()) +
                     " runs failed; the others are in " + dir.string());
}

}  // namespace

void add_experiment(const Command& root) {
  const auto options = std::make_shared<ExperimentOptions>();
  const Command command =
      root.sub("experiment", "run a grid of simulations on all cores and compare the policies");
  command.rest(
      "FILE", options->words,
      "the experiment: YAML, see docs/experiments.md; with --merge the folders of its parts",
      [](const std::string&) { return true; });
  command.option("--out", options->out, "DIR", "where results go (default results/NAME)");
  command.flag("--resume", options->resume, "keep the runs that DIR has, run the others");
  command.flag("--force", options->force, "remove the runs that DIR has, and run all");
  command.option("--part", options->part, "K/N",
                 "only the K-th of N parts of the runs; goes on where an earlier try ended");
  command.option("--share", options->share, "DIR",
                 "do any runs that no other process does that was told the same folder");
  command.flag("--merge", options->merge, "make one folder, --out, of those that all parts left");
  command.option("--on", options->on, "slurm",
                 "as an array of Slurm: submits, watches, submits again what died, gathers");
  command.option("--parts", options->parts, "N", "of --on slurm: so many tasks", 1U, 100'000U);
  command.option("--slurm-options", options->slurm_options, "TEXT",
                 "of sbatch, as '--cpus-per-task=4 --partition=short'");
  command.flag("--incomplete", options->incomplete, "with --merge: also where runs are missing");
  command.option("--split", options->split, "NAME",
                 "training, validation or evaluation, instead of the file's");
  command.option("--set", options->set, "NAME=VALUE[,..]",
                 "values for ${NAME} in file names, physics and speed; a value may have commas");
  command.option("--threads", options->threads, "N", "runs at a time (default: one per core)", 1U,
                 4096U);
  command.flag("--dry-run", options->dry_run, "only list the runs");
  command.flag("--json", options->json, "only JSON on stdout");
  command.flag("-q,--quiet", options->quiet, "no progress on stderr");
  command.examples({"starling experiment examples/experiments/quick.yaml --out results/quick",
                    "starling experiment examples/experiments/quick.yaml --part 2/4 --out part-2",
                    "starling experiment --merge part-1 part-2 part-3 part-4 --out results/quick",
                    "starling experiment examples/experiments/quick.yaml --share /shared/quick",
                    ("starling experiment examples/experiments/quick.yaml --on slurm --parts 16 "
                     "--out /shared/quick")});
  command.action([options] { return run_experiment(*options); });
}

}  // namespace starling
