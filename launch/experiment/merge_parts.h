// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"

namespace starling {

struct MergeOptions {
  std::filesystem::path out;  ///< new, or without experiment.json
  bool incomplete = false;    ///< also where runs are missing
};
struct MergeOutcome {
  std::uint64_t runs = 0, missing = 0;
};

/// Makes `out` the folder that one process would have left that had done all runs of `parts`, byte
/// for byte, but for the times that decisions took. `out` has no results yet: write_results() makes
/// them. Everything is looked at before anything is written. `invalid`: a folder is no
/// experiment's, another experiment's or another program's, has a damaged record, or a run is in
/// two of them or, without `incomplete`, in none; `conflict`: `out` has an experiment already;
/// `io`: it cannot be written.
[[nodiscard]] Result<MergeOutcome> merge_parts(const std::vector<std::filesystem::path>& parts,
                                               const MergeOptions& options);

}  // namespace starling
