// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "launch/experiment/load_experiment.h"
#include "launch/experiment/run_grid.h"
#include "launch/leaderboard/leaderboard.h"
#include "policies/registry.h"

namespace starling {

/// An experiment and all runs of one of its splits.
struct BoardGrid {
  Experiment experiment;
  Inputs inputs;
  std::vector<RunPoint> points;
};
/// As load_experiment(), open_inputs() and expand(), with their errors.
[[nodiscard]] Result<BoardGrid> open_grid(const std::filesystem::path& file,
                                          const PolicyRegistry& policies,
                                          const Variables& variables, const std::string& split);

/// What ran in `dir`, an experiment's folder, as entries: one for each policy and number of agents
/// of the grid's, of these only those of `label` unless it is empty. `file`: the experiment's, as
/// the entries are to name it; `added`: the day. `invalid`: a run has no record there, was not
/// simulated, or one policy's runs are of several programs; no policy of that label.
[[nodiscard]] Result<std::vector<BoardEntry>> entries_of(const BoardGrid& grid,
                                                         const std::filesystem::path& dir,
                                                         const std::string& file,
                                                         const std::string& label,
                                                         const std::string& added);

/// A run of an entry, both from 0.
struct BoardPick {
  std::size_t entry = 0, run = 0;
};
/// All runs of an entry, or where it is none of all.
[[nodiscard]] std::vector<BoardPick> picks_of(const Leaderboard& board, const std::size_t* entry);
/// `count` of them, drawn by `seed`, in their order; all where there are no more.
[[nodiscard]] std::vector<BoardPick> sample_of(std::vector<BoardPick> picks, std::size_t count,
                                               std::uint64_t seed);

struct BoardDifference {
  BoardPick pick;
  std::string what;  ///< in words: which hash or figure, as it is told and as it is
};
struct BoardCheck {
  std::uint64_t same = 0;
  std::vector<BoardDifference> differing;  ///< in the order of the picks
};
struct BoardCheckOptions {
  std::filesystem::path folder;  ///< of the leaderboard
  std::filesystem::path work;    ///< an empty folder, for what the runs leave
  Variables variables;
  std::uint32_t threads = 0;  ///< 0: as many as the machine has
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};
/// Runs the picks again and compares. A run that fails, or that the experiment has no more, is a
/// difference. Errors: an experiment that cannot be read, or `work` not be written.
[[nodiscard]] Result<BoardCheck> check_board(const Leaderboard& board,
                                             const std::vector<BoardPick>& picks,
                                             const PolicyRegistry& policies, const RunFunction& run,
                                             const BoardCheckOptions& options);

}  // namespace starling
