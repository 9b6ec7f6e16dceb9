// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "interference/fit/pair_fit.h"

namespace starling {

/// How well simple models meet pairs that they have not seen: mean absolute error of a speed as a
/// part of alone, each fifth of the pairs being predicted from the others.
struct PairFileErrors {
  std::string set;  ///< campaign/gpu: measurements that belong together
  std::size_t pairs = 0;
  double mean = 0;  ///< of always answering the mean
  /// Of the additive form with 0 to kPairTerms products.
  std::array<double, kPairTerms + 1> products{};
  /// Half the width of the middle one of the 95 % intervals, where the file has them: what noise
  /// leaves to any model.
  std::optional<double> noise;
};

/// Of a table in the columns of Gavel's colocated.csv, as `starling profile` writes it; pairs
/// without speeds and those flagged noisy are left out. `invalid` names file, line and column.
[[nodiscard]] Result<std::vector<PairFileErrors>> fit_pair_file(const std::filesystem::path& file);

/// For people, and JSON.
[[nodiscard]] std::string to_text(const std::vector<PairFileErrors>& sets);
[[nodiscard]] std::string to_json(const std::vector<PairFileErrors>& sets);

}  // namespace starling
