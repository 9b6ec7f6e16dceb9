// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "interference/learned/interference_net.h"
#include "interference/pairs/evaluate.h"
#include "interference/pairs/pair_data.h"

namespace starling {

/// What a model says of a file of measured pairs.
struct PairReport {
  struct Row {
    std::uint32_t row = 0;  ///< of the data
    PairAnswer answer;
  };
  PairErrors all;
  std::map<std::string, PairErrors> groups;  ///< by set
  std::vector<Row> rows;
  std::vector<ShareWorth> worth;          ///< none of a network
  std::optional<double> feasibility_auc;  ///< where the file has pairs that did not run
  std::string note;                       ///< what a reader should know; empty: nothing
};

/// `unsupported` if the weights have no part for such a file.
[[nodiscard]] Result<PairReport> report_pairs(const InterferenceNet& net, const PairData& data);

/// {"rows", "mae", "rmse", "coverage90", "groups": {SET: the same}, ...}
[[nodiscard]] std::string to_json(const PairReport& report);
[[nodiscard]] std::string to_text(const PairReport& report);

}  // namespace starling
