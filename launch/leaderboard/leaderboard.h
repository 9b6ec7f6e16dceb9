// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace starling {

/// One run of an entry: which one it was, what happened in it, and what it gave.
struct BoardRun {
  std::string id;  ///< RunPoint::id
  std::string topology, workload, faults;
  double load = 0;  ///< 0: submit times as they are
  std::uint64_t seed = 1;
  std::string hash;  ///< RunResult::trace_hash, 16 hexadecimal digits
  double avg_jct_s = 0;
  std::uint32_t jobs = 0, unfinished = 0;
};

/// What one policy, with one number of agents, reached in one split of an experiment.
struct BoardEntry {
  std::string experiment;   ///< its file; relative ones start from the leaderboard's folder
  std::string name, split;  ///< of the experiment; empty: it has no splits
  std::string label, policy;
  std::uint32_t agents = 1;
  std::string program;  ///< that ran it: program_build()
  std::string added;    ///< 2026-11-27, UTC
  std::vector<BoardRun> runs;
};

/// A file of results that others can run again.
struct Leaderboard {
  std::vector<BoardEntry> entries;  ///< by number, from 1 in messages
};

/// Of all hashes of the runs, in their order: 16 hexadecimal digits.
[[nodiscard]] std::string hash_of(const BoardEntry& entry);
/// The mean over the runs of their mean JCTs.
[[nodiscard]] double mean_jct_of(const BoardEntry& entry);
[[nodiscard]] std::vector<std::uint64_t> seeds_of(const BoardEntry& entry);
/// Did both run the same jobs on the same data centres? Only then are they compared.
[[nodiscard]] bool same_runs(const BoardEntry& a, const BoardEntry& b);

/// Of a file, YAML or JSON (docs/experiments.md#leaderboards). `not_found` and `io`; `invalid` with
/// one line per mistake, "file:line:column: what is wrong; what would be right": also where an
/// entry's hash, mean or seeds are not those of its runs.
[[nodiscard]] Result<Leaderboard> read_leaderboard(const std::filesystem::path& file);
[[nodiscard]] Result<Leaderboard> parse_leaderboard(const std::string& text,
                                                    const std::filesystem::path& file);

/// `text`, that of a leaderboard, or empty, with the entries added at its end; what is there,
/// comments too, stays as it is. `invalid`: its entries are not a list, an entry to a "- ", at the
/// end.
[[nodiscard]] Result<std::string> with_entries(const std::string& text,
                                               const std::filesystem::path& file,
                                               const std::vector<BoardEntry>& entries);

}  // namespace starling
