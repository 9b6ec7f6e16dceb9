// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/progress_bar.h"
#include "launch/command_line/results_folder.h"
#include "launch/commands/commands.h"
#include "launch/deployment/local_flock.h"
#include "launch/experiment/set_variables.h"
#include "launch/leaderboard/board_runs.h"
#include "launch/system/amount.h"
#include "launch/system/dates.h"
#include "launch/system/files.h"
#include "launch/system/program_build.h"
#include "launch/system/text.h"
#include "launch/system/work_folder.h"
#include "launch/wiring/load_plugin.h"
#include "launch/wiring/wiring.h"
#include "sim/simulate.h"

namespace starling {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct LeaderboardOptions {
  std::string file, source, experiment, split, set, label, out;
  std::uint32_t entry = 0, sample = 0, threads = 0;
  std::uint64_t seed = 1;
  bool json = false, quiet = false;
};

/// Every policy, with the plug-ins that the experiments name.
Result<PolicyRegistry> policies_for(const std::set<fs::path>& experiments) {
  PolicyRegistry policies = simulated_policies();
  for (const fs::path& file : experiments) {
    for (const std::string& policy : policies_in(file)) {
      if (const Status added = add_plugin_policy(policies, policy); !added.ok())
        return {Errc::invalid, file.string() + ": " + added.error().message};
    }
  }
  return policies;
}

/// Of --set, for all experiments together: one that has no such variable takes no notice.
Result<Variables> variables_for(const std::set<fs::path>& experiments, const std::string& set) {
  if (set.empty()) return Variables{};
  std::set<std::string> used;
  for (const fs::path& file : experiments) {
    const auto text = read_text(file);
    if (text) used.merge(variables_of(text.value()));
  }
  return split_variables(set, used);
}

/// Runs the grid into `dir`; 0, or the exit status.
int run_all(const LeaderboardOptions& o, BoardGrid& grid, const PolicyRegistry& policies,
            const fs::path& dir) {
  if (!o.label.empty())
    std::erase_if(grid.points, [&](const RunPoint& point) { return point.label != o.label; });
  ProgressBar bar(grid.experiment.name, o.quiet);
  GridOptions options;
  options.out = dir;
  options.threads = o.threads;
  options.progress = [&bar](std::uint64_t ran, std::uint64_t total, double left_s) {
    bar.update(ran, total, "about " + human_seconds(left_s) + " left");
  };
  std::optional<std::string> broken;
  options.failed = [&](const RunPoint& point, const Error& error) {
    if (!broken) broken = "run " + point.id + " (" + in_words(point) + ") failed: " + error.message;
  };
  const auto ran = run_grid(grid.experiment, grid.inputs, grid.points, policies, simulate, options);
  bar.finish();
  if (!ran) {
    return ran.error().code == Errc::conflict ? bad_input("--out: " + ran.error().message)
                                              : failed(ran.error());
  }
  return broken ? work_failed(*broken + "; nothing is added") : kDone;
}

/// What of the command line contradicts something else; empty: nothing.
std::string contradiction(const LeaderboardOptions& o, bool folder) {
  if (folder && o.experiment.empty())
    return "say by --experiment FILE which experiment " + o.source + " has the results of";
  if (folder && (!o.out.empty() || o.threads > 0))
    return "--out and --threads are for runs; the results are in " + o.source + " already";
  if (!folder && !o.experiment.empty())
    return "--experiment is for a folder of results, and " + o.source + " is none";
  return "";
}

int tell_added(const LeaderboardOptions& o, std::size_t before,
               const std::vector<BoardEntry>& entries) {
  if (o.json) {
    Json added = Json::array();
    for (std::size_t i = 0; i < entries.size(); ++i)
      added.push_back({{"entry", before + i + 1},
                       {"label", entries[i].label},
                       {"agents", entries[i].agents},
                       {"runs", entries[i].runs.size()},
                       {"hash", hash_of(entries[i])},
                       {"mean_jct_s", mean_jct_of(entries[i])}});
    std::printf("%s\n", Json{{"schema", 1}, {"added", added}}.dump(1).c_str());
    return kDone;
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    std::printf("entry %zu: %s, %s, %s, mean JCT %s, hash %s\n", before + i + 1,
                entries[i].label.c_str(), amount(entries[i].agents, "agent").c_str(),
                amount(entries[i].runs.size(), "run").c_str(),
                human_seconds(mean_jct_of(entries[i])).c_str(), hash_of(entries[i]).c_str());
  return kDone;
}

int add(const LeaderboardOptions& o) {
  std::error_code ignored;
  const bool folder = fs::is_directory(o.source, ignored);
  if (const std::string wrong = contradiction(o, folder); !wrong.empty())
    return bad_input("leaderboard add: " + wrong);
  std::string text;
  Leaderboard board;
  if (fs::exists(o.file, ignored)) {
    const auto there = read_text(o.file);
    if (!there) return bad_input("leaderboard add: " + there.error().message);
    text = there.value();
  }
  if (text.find_first_not_of(" \t\r\n") != std::string::npos) {
    auto read = parse_leaderboard(text, o.file);
    if (!read) return bad_input(read.error().message);
    board = std::move(read).value();
  }
  const fs::path file = folder ? o.experiment : o.source;
  const auto policies = policies_for({file});
  if (!policies) return bad_input(policies.error().message);
  const auto variables = read_variables(file, o.set);
  if (!variables) return bad_input("--set: " + file.string() + ": " + variables.error().message);
  auto grid = open_grid(file, policies.value(), variables.value(), o.split);
  if (!grid) return bad_input(grid.error().message);
  fs::path dir = folder ? fs::path(o.source) : fs::path(o.out);
  std::optional<WorkFolder> work;  // of runs whose records nothing else needs
  if (!folder) {
    if (dir.empty()) {
      const auto made = temporary_dir();
      if (!made) return work_failed("cannot make a folder for the runs; give one by --out");
      dir = work.emplace(made.value(), true).path();
    }
    if (const Status free = can_take_results(dir); !free.ok())
      return bad_input("--out: " + free.error().message);
    if (const int status = run_all(o, grid.value(), policies.value(), dir); status != kDone)
      return status;
  }
  fs::path named = fs::proximate(fs::absolute(file), fs::absolute(o.file).parent_path(), ignored);
  if (named.empty()) named = file;
  const auto entries = entries_of(grid.value(), dir, named.generic_string(), o.label,
                                  formatted(std::chrono::system_clock::now(), "%F", Zone::utc));
  if (!entries) return bad_input("leaderboard add: " + entries.error().message);
  for (std::size_t i = 0; i < board.entries.size(); ++i) {
    for (const BoardEntry& entry : entries.value()) {
      const BoardEntry& there = board.entries[i];
      if (there.program == entry.program && there.label == entry.label &&
          hash_of(there) == hash_of(entry))
        return bad_input("leaderboard add: " + entry.label + " is entry " + std::to_string(i + 1) +
                         " of " + o.file + " already, by the same program with the same hash");
    }
  }
  const auto whole = with_entries(text, o.file, entries.value());
  if (!whole) return bad_input(whole.error().message);
  if (const Status written = write_text(o.file, whole.value()); !written.ok())
    return failed(written.error());
  return tell_added(o, board.entries.size(), entries.value());
}

/// How many times as long as with `best` a job takes, by the geometric mean over the runs.
double times(const BoardEntry& entry, const BoardEntry& best) {
  const auto mean_log = [](const BoardEntry& of) {
    double sum = 0;
    for (const BoardRun& run : of.runs) sum += std::log(std::max(run.avg_jct_s, 1e-9));
    return sum / static_cast<double>(of.runs.size());
  };
  return std::exp(mean_log(entry) - mean_log(best));
}

std::uint64_t unfinished_of(const BoardEntry& entry) {
  std::uint64_t sum = 0;
  for (const BoardRun& run : entry.runs) sum += run.unfinished;
  return sum;
}

/// Entries that did the same runs, the best first; those that left jobs unfinished come last.
std::vector<std::vector<std::size_t>> tables_of(const Leaderboard& board) {
  std::vector<std::vector<std::size_t>> tables;
  for (std::size_t i = 0; i < board.entries.size(); ++i) {
    const auto at = std::find_if(tables.begin(), tables.end(), [&](const auto& table) {
      return same_runs(board.entries[table.front()], board.entries[i]);
    });
    if (at == tables.end())
      tables.push_back({i});
    else
      at->push_back(i);
  }
  for (auto& table : tables) {
    const BoardEntry& any = board.entries[table.front()];
    std::stable_sort(table.begin(), table.end(), [&](std::size_t a, std::size_t b) {
      const BoardEntry &x = board.entries[a], &y = board.entries[b];
      return std::pair(unfinished_of(x) > 0, times(x, any)) <
             std::pair(unfinished_of(y) > 0, times(y, any));
    });
  }
  return tables;
}

Json entry_json(const BoardEntry& entry, std::size_t number, double to_best) {
  return {{"entry", number},           {"experiment", entry.experiment},
          {"name", entry.name},        {"split", entry.split.empty() ? Json() : Json(entry.split)},
          {"label", entry.label},      {"policy", entry.policy},
          {"agents", entry.agents},    {"seeds", seeds_of(entry)},
          {"runs", entry.runs.size()}, {"mean_jct_s", mean_jct_of(entry)},
          {"times_the_best", to_best}, {"unfinished_jobs", unfinished_of(entry)},
          {"hash", hash_of(entry)},    {"program", entry.program},
          {"added", entry.added}};
}

int show(const LeaderboardOptions& o) {
  const auto read = read_leaderboard(o.file);
  if (!read) return failed(read.error());
  const Leaderboard& board = read.value();
  Json tables = Json::array();
  for (const auto& table : tables_of(board)) {
    const BoardEntry& best = board.entries[table.front()];
    std::vector<std::vector<std::string>> rows{
        {"policy", "agents", "mean JCT", "x best", "unfinished", "program", "added", "entry"}};
    Json told = Json::array();
    for (const std::size_t i : table) {
      const BoardEntry& entry = board.entries[i];
      char to_best[32];
      std::snprintf(to_best, sizeof to_best, "%.3f", times(entry, best));
      rows.push_back({entry.label, std::to_string(entry.agents), human_seconds(mean_jct_of(entry)),
                      to_best, with_commas(unfinished_of(entry)), entry.program, entry.added,
                      std::to_string(i + 1)});
      told.push_back(entry_json(entry, i + 1, times(entry, best)));
    }
    tables.push_back(told);
    if (o.json) continue;
    std::printf("%s%s%s, %s:\n%s\n", best.name.c_str(), best.split.empty() ? "" : ", ",
                best.split.c_str(), amount(best.runs.size(), "run").c_str(),
                table_text(rows).c_str());
  }
  if (o.json) std::printf("%s\n", Json{{"schema", 1}, {"tables", tables}}.dump(1).c_str());
  return kDone;
}

int tell_checked(const LeaderboardOptions& o, const Leaderboard& board, const BoardCheck& check) {
  const std::string program = program_build();
  Json differing = Json::array();
  for (const BoardDifference& d : check.differing) {
    const BoardEntry& entry = board.entries[d.pick.entry];
    const BoardRun& run = entry.runs[d.pick.run];
    differing.push_back({{"entry", d.pick.entry + 1},
                         {"label", entry.label},
                         {"agents", entry.agents},
                         {"run", run.id},
                         {"topology", run.topology},
                         {"workload", run.workload},
                         {"load", run.load > 0 ? Json(run.load) : Json()},
                         {"seed", run.seed},
                         {"program", entry.program},
                         {"what", d.what}});
    if (!o.json)
      std::printf("entry %zu, %s, run %s (%s, %s, load %s, seed %llu): %s%s\n", d.pick.entry + 1,
                  entry.label.c_str(), run.id.c_str(), run.topology.c_str(), run.workload.c_str(),
                  run.load > 0 ? Json(run.load).dump().c_str() : "as-is",
                  static_cast<unsigned long long>(run.seed), d.what.c_str(),
                  entry.program == program ? "" : ("; it was " + entry.program).c_str());
  }
  const std::uint64_t all = check.same + check.differing.size();
  if (o.json) {
    std::printf("%s\n", Json{{"schema", 1},
                             {"program", program},
                             {"runs", all},
                             {"same", check.same},
                             {"differing", differing}}
                            .dump(1)
                            .c_str());
  } else {
    std::printf("%s of %s again the same, by %s\n", with_commas(check.same).c_str(),
                amount(all, "run").c_str(), program.c_str());
  }
  return check.differing.empty()
             ? kDone
             : work_failed(amount(check.differing.size(), "run") + " of " + o.file + " differ");
}

int check(const LeaderboardOptions& o) {
  const auto read = read_leaderboard(o.file);
  if (!read) return failed(read.error());
  const Leaderboard& board = read.value();
  if (o.entry > board.entries.size())
    return bad_input("leaderboard check: --entry: " + o.file + " has " +
                     amount(board.entries.size(), "entry", "entries"));
  const std::size_t index = o.entry - 1;
  std::vector<BoardPick> picks = picks_of(board, o.entry > 0 ? &index : nullptr);
  if (o.sample > 0) picks = sample_of(std::move(picks), o.sample, o.seed);
  BoardCheckOptions options;
  options.folder = fs::absolute(o.file).parent_path();
  std::set<fs::path> experiments;
  for (const BoardPick& pick : picks)
    experiments.insert(options.folder / board.entries[pick.entry].experiment);
  const auto policies = policies_for(experiments);
  if (!policies) return bad_input(policies.error().message);
  const auto variables = variables_for(experiments, o.set);
  if (!variables) return bad_input("--set: " + variables.error().message);
  const auto made = temporary_dir();
  if (!made) return work_failed("cannot make a folder for the runs; set TMPDIR");
  const WorkFolder work(made.value(), true);
  options.work = work.path();
  options.variables = variables.value();
  options.threads = o.threads;
  ProgressBar bar("leaderboard check", o.quiet);
  options.progress = [&bar](std::uint64_t ran, std::uint64_t total) { bar.update(ran, total, ""); };
  const auto checked = check_board(board, picks, policies.value(), simulate, options);
  bar.finish();
  if (!checked) return failed(checked.error());
  return tell_checked(o, board, checked.value());
}

constexpr const char* kSetHelp =
    "values for ${NAME} in the experiment, as of 'starling experiment'";

void add_add(const Command& root, const std::shared_ptr<LeaderboardOptions>& o) {
  const Command command = root.sub("add", "runs an experiment, or takes its results, as entries");
  command.positional("FILE", o->file, "the leaderboard, YAML; made where there is none");
  command.positional("EXPERIMENT|DIR", o->source,
                     "an experiment to run, or the folder that 'starling experiment' wrote");
  command.option("--experiment", o->experiment, "FILE", "whose results DIR has");
  command.option("--policy", o->label, "LABEL", "only this one, as the tables call it");
  command.option("--split", o->split, "NAME", "training, validation or evaluation");
  command.option("--set", o->set, "NAME=VALUE[,..]", kSetHelp);
  command.option("--out", o->out, "DIR", "keep the results there (default: only the entries)");
  command.option("--threads", o->threads, "N", "runs at a time (default: one per core)", 1U, 4096U);
  command.flag("--json", o->json, "only JSON on stdout");
  command.flag("-q,--quiet", o->quiet, "no progress on stderr");
  command.examples({"starling leaderboard add board.yaml examples/experiments/quick.yaml",
                    "starling leaderboard add board.yaml results/quick --experiment "
                    "examples/experiments/quick.yaml --policy easy"});
  command.action([o] { return add(*o); });
}

}  // namespace

void add_leaderboard(const Command& root) {
  const Command all = root.sub(
      "leaderboard", "a file of results by program, seeds and hash, that can be run again");
  const auto o = std::make_shared<LeaderboardOptions>();
  add_add(all, o);
  const Command shown = all.sub("show", "tables of the entries, the best first");
  shown.positional("FILE", o->file, "the leaderboard");
  shown.flag("--json", o->json, "only JSON on stdout");
  shown.examples({"starling leaderboard show board.yaml"});
  shown.action([o] { return show(*o); });
  const Command checked = all.sub("check", "runs entries again and says what differs");
  checked.positional("FILE", o->file, "the leaderboard");
  checked.option("--entry", o->entry, "N", "only this one, as 'show' numbers them", 1U, 1'000'000U);
  checked.option("--sample", o->sample, "N", "only N runs, drawn from all", 1U, 1'000'000U);
  checked.option("--seed", o->seed, "S", "of --sample (default 1)", std::uint64_t{0},
                 ~std::uint64_t{0});
  checked.option("--set", o->set, "NAME=VALUE[,..]", kSetHelp);
  checked.option("--threads", o->threads, "N", "runs at a time (default: one per core)", 1U, 4096U);
  checked.flag("--json", o->json, "only JSON on stdout");
  checked.flag("-q,--quiet", o->quiet, "no progress on stderr");
  checked.examples({"starling leaderboard check board.yaml --sample 10",
                    "starling leaderboard check board.yaml --entry 2 --set DATA=shared/data"});
  checked.action([o] { return check(*o); });
}

}  // namespace starling
