// SPDX-License-Identifier: Apache-2.0
#include "launch/leaderboard/board_runs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/rng.h"
#include "launch/experiment/run_record.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// Of a record whose run was simulated; an empty hash otherwise.
BoardRun run_of(const RunPoint& point, const RunRecord& record) {
  const auto summary = nlohmann::json::parse(record.summary);
  BoardRun run;
  run.id = point.id;
  run.topology = point.topology;
  run.workload = point.workload;
  run.faults = point.faults;
  run.load = point.load;
  run.seed = point.seed;
  const auto hash = summary.find("trace_hash");
  if (hash != summary.end() && hash->is_string()) run.hash = hash->get<std::string>();
  run.avg_jct_s = record.fact.avg_jct_s;
  run.jobs = static_cast<std::uint32_t>(record.fact.submitted);
  run.unfinished = static_cast<std::uint32_t>(record.fact.submitted - record.fact.finished);
  return run;
}

std::string seconds_text(double s) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g s", s);
  return text;
}

/// What differs between an entry's run and the same one now, in words; empty: nothing.
std::string difference(const BoardRun& told, const BoardRun& now) {
  if (told.hash != now.hash)
    return "hash " + now.hash + " instead of " + told.hash + ", mean JCT " +
           seconds_text(now.avg_jct_s) + " instead of " + seconds_text(told.avg_jct_s);
  // Sums of the same times: a machine whose compiler adds them in another order is no difference.
  if (std::abs(told.avg_jct_s - now.avg_jct_s) > 1e-9 * std::max(1.0, now.avg_jct_s))
    return "the hash is the same, but mean JCT is " + seconds_text(now.avg_jct_s) + " instead of " +
           seconds_text(told.avg_jct_s);
  if (told.jobs != now.jobs || told.unfinished != now.unfinished)
    return "the hash is the same, but " + std::to_string(now.unfinished) + " of " +
           std::to_string(now.jobs) + " jobs did not finish instead of " +
           std::to_string(told.unfinished) + " of " + std::to_string(told.jobs);
  return "";
}

/// Picks of one experiment and split.
using Key = std::pair<std::string, std::string>;
using Found = std::map<std::pair<std::size_t, std::size_t>, std::string>;

class Checker {
 public:
  Checker(const Leaderboard& board, const PolicyRegistry& policies, const RunFunction& run,
          const BoardCheckOptions& options, std::uint64_t total)
      : board_(board), policies_(policies), run_(run), options_(options), total_(total) {}

  Status check(const Key& key, const std::vector<BoardPick>& picks) {
    const fs::path file = options_.folder / key.first;  // an absolute one stays as it is
    auto grid = open_grid(file, policies_, options_.variables, key.second);
    if (!grid) return grid.error();
    BoardGrid& all = grid.value();
    all.experiment.jobs_csv = all.experiment.bound = false;
    std::map<std::string, const RunPoint*> by_id;
    for (const RunPoint& point : all.points) by_id.emplace(point.id, &point);
    std::vector<RunPoint> todo;
    std::set<std::string> taken;
    for (const BoardPick& pick : picks) {
      const std::string& id = told(pick).id;
      const auto at = by_id.find(id);
      if (at != by_id.end() && taken.insert(id).second) todo.push_back(*at->second);
    }
    std::map<std::string, std::string> broken;
    GridOptions grid_options;
    grid_options.out = options_.work / std::to_string(groups_++);
    grid_options.threads = options_.threads;
    grid_options.failed = [&](const RunPoint& point, const Error& error) {
      broken[point.id] = error.message;
    };
    grid_options.progress = [&](std::uint64_t ran, std::uint64_t, double) {
      if (options_.progress) options_.progress(done_ + ran, total_);
    };
    const auto outcome = run_grid(all.experiment, all.inputs, todo, policies_, run_, grid_options);
    if (!outcome) return outcome.error();
    for (const BoardPick& pick : picks)
      found_[{pick.entry, pick.run}] = compared(told(pick), by_id, broken, grid_options.out);
    done_ += picks.size();
    return starling::done();
  }
  [[nodiscard]] const Found& found() const { return found_; }

 private:
  [[nodiscard]] const BoardRun& told(const BoardPick& pick) const {
    return board_.entries[pick.entry].runs[pick.run];
  }
  static std::string compared(const BoardRun& told,
                              const std::map<std::string, const RunPoint*>& by_id,
                              const std::map<std::string, std::string>& broken,
                              const fs::path& dir) {
    const auto at = by_id.find(told.id);
    if (at == by_id.end())
      return "the experiment has no run " + told.id +
             " any more: its file, what it names or a value of --set is another one";
    if (const auto why = broken.find(told.id); why != broken.end())
      return "the run failed: " + why->second;
    const auto record = read_record(dir / "runs" / (told.id + ".json"), *at->second);
    if (!record) return record.error().message;
    return difference(told, run_of(*at->second, record.value()));
  }

  const Leaderboard& board_;
  const PolicyRegistry& policies_;
  const RunFunction& run_;
  const BoardCheckOptions& options_;
  std::uint64_t total_, done_ = 0;
  std::size_t groups_ = 0;
  Found found_;
};

}  // namespace

Result<BoardGrid> open_grid(const fs::path& file, const PolicyRegistry& policies,
                            const Variables& variables, const std::string& split) {
  auto experiment = load_experiment(file, policies, variables, split);
  if (!experiment) return experiment.error();
  auto inputs = open_inputs(experiment.value());
  if (!inputs) return inputs.error();
  auto points = expand(experiment.value(), inputs.value());
  if (!points) return points.error();
  return BoardGrid{std::move(experiment).value(), std::move(inputs).value(),
                   std::move(points).value()};
}

Result<std::vector<BoardEntry>> entries_of(const BoardGrid& grid, const fs::path& dir,
                                           const std::string& file, const std::string& label,
                                           const std::string& added) {
  std::vector<BoardEntry> entries;
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> at;
  for (const RunPoint& point : grid.points) {
    if (!label.empty() && point.label != label) continue;
    const auto record = read_record(dir / "runs" / (point.id + ".json"), point);
    if (!record)
      return {Errc::invalid, "run " + point.id + " (" + in_words(point) + ") is not in " +
                                 dir.string() + ": " + record.error().message};
    const auto [found, fresh] = at.try_emplace({point.label, point.agents}, entries.size());
    if (fresh)
      entries.push_back({file,
                         grid.experiment.name,
                         grid.experiment.split,
                         point.label,
                         point.policy,
                         point.agents,
                         record.value().program,
                         added,
                         {}});
    BoardEntry& entry = entries[found->second];
    if (entry.program.empty() || entry.program != record.value().program)
      return {Errc::invalid, "runs of " + point.label + " in " + dir.string() +
                                 " are of several programs, or of one that did not say; run them "
                                 "anew with --force"};
    entry.runs.push_back(run_of(point, record.value()));
    if (!is_run_id(entry.runs.back().hash))
      return {Errc::invalid, "run " + point.id + " (" + in_words(point) +
                                 ") has no hash of what happened; only simulations have"};
  }
  if (entries.empty()) {
    std::set<std::string> labels;
    for (const RunPoint& point : grid.points) labels.insert(point.label);
    std::string known;
    for (const std::string& one : labels) known += (known.empty() ? "" : ", ") + one;
    return {Errc::invalid,
            "the experiment has no policy '" + label + "'; it has, as its tables say: " + known};
  }
  return entries;
}

std::vector<BoardPick> picks_of(const Leaderboard& board, const std::size_t* entry) {
  std::vector<BoardPick> picks;
  for (std::size_t e = 0; e < board.entries.size(); ++e) {
    if (entry != nullptr && *entry != e) continue;
    for (std::size_t r = 0; r < board.entries[e].runs.size(); ++r) picks.push_back({e, r});
  }
  return picks;
}

std::vector<BoardPick> sample_of(std::vector<BoardPick> picks, std::size_t count,
                                 std::uint64_t seed) {
  Rng rng(seed);
  while (picks.size() > count)
    picks.erase(picks.begin() + rng.below(static_cast<std::uint32_t>(picks.size())));
  return picks;
}

Result<BoardCheck> check_board(const Leaderboard& board, const std::vector<BoardPick>& picks,
                               const PolicyRegistry& policies, const RunFunction& run,
                               const BoardCheckOptions& options) {
  std::map<Key, std::vector<BoardPick>> groups;
  for (const BoardPick& pick : picks) {
    const BoardEntry& entry = board.entries[pick.entry];
    groups[{entry.experiment, entry.split}].push_back(pick);
  }
  Checker checker(board, policies, run, options, picks.size());
  for (const auto& [key, of_it] : groups) {
    if (Status checked = checker.check(key, of_it); !checked) return checked.error();
  }
  BoardCheck check;
  for (const BoardPick& pick : picks) {
    const std::string& what = checker.found().at({pick.entry, pick.run});
    if (what.empty())
      ++check.same;
    else
      check.differing.push_back({pick, what});
  }
  return check;
}

}  // namespace starling
