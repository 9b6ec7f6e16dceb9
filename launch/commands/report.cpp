// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/show_experiment.h"
#include "launch/experiment/results.h"
#include "launch/report/page.h"
#include "launch/report/training_page.h"
#include "launch/system/amount.h"
#include "launch/system/files.h"
#include "launch/system/text.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string dir;
  bool json = false, quiet = false;
};

void tell_written(const fs::path& dir) {
  std::fprintf(stderr, "starling: wrote %s\n", (dir / "report.html").c_str());
}

/// The page of `sim` or `run` anew: it carries its data with it.
int show_run(const Options& options) {
  const fs::path dir = options.dir;
  const auto old = read_text(dir / "report.html");
  const auto data = old.ok() ? page_data(old.value()) : Result<std::string>(old.error());
  if (!data || data.value().rfind("{\"page\":\"run\"", 0) != 0) {
    return bad_input(
        "report: " + options.dir +
        ": no experiment, no run and no training lies there; give a folder that "
        "'starling experiment' or 'train policy', or 'sim' or 'run' with --out, wrote");
  }
  if (auto written = write_text(dir / "report.html", fill_page(kRunPage, data.value()));
      !written.ok())
    return failed(written.error());
  if (options.json) {
    const auto summary = read_text(dir / "summary.json");
    if (!summary) return failed(summary.error());
    std::fputs(summary.value().c_str(), stdout);
  }
  if (!options.quiet) tell_written(dir);
  return kDone;
}

/// Of the log that `train policy` wrote, also while it still trains.
int show_training(const Options& options) {
  const fs::path dir = options.dir, file = dir / "train.jsonl";
  const auto log = read_text(file);
  if (!log) return failed(log.error());
  const auto json = training_json(log.value());
  if (!json) return bad_input("report: " + file.string() + ": " + json.error().message);
  if (auto written = write_text(dir / "report.html", training_page(json.value())); !written.ok())
    return failed(written.error());
  const std::string text = options.json ? json.value() + "\n" : training_text(json.value());
  std::fputs(text.c_str(), stdout);
  if (!options.quiet) tell_written(dir);
  return kDone;
}

int report(const Options& options) {
  std::error_code ignored;
  if (fs::exists(fs::path(options.dir) / "experiment.json", ignored))
    return show_experiment(options.dir, options.json, options.quiet);
  if (fs::exists(fs::path(options.dir) / "train.jsonl", ignored)) return show_training(options);
  return show_run(options);
}

}  // namespace

int show_experiment(const fs::path& dir, bool json, bool quiet) {
  const auto results = read_results(dir);
  if (!results) return failed(results.error());
  if (Status written = write_results(dir, results.value()); !written)
    return failed(written.error());
  const std::string text =
      json ? results_json(results.value())
           : tables_markdown(results.value().manifest.name, results.value().tables,
                             results.value().manifest.notes);
  std::fputs(text.c_str(), stdout);
  if (!quiet) {
    tell_written(dir);
    if (results.value().missing > 0) {
      std::fprintf(stderr, "starling: %s missing; --resume runs what is\n",
                   amount(results.value().missing, "run is", "runs are").c_str());
    }
  }
  return kDone;
}

void add_report(const Command& root) {
  const auto options = std::make_shared<Options>();
  const Command command = root.sub(
      "report", "make the page of a run, of an experiment with its tables, or of a training, anew");
  command.positional("DIR", options->dir,
                     "what 'starling experiment' or 'train policy', or 'sim' or 'run' with --out, "
                     "wrote");
  command.flag("--json", options->json, "only JSON on stdout");
  command.flag("-q,--quiet", options->quiet, "nothing on stderr");
  command.examples({"starling report results/quick", "starling report training"});
  command.action([options] { return report(*options); });
}

}  // namespace starling
