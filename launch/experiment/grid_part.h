// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/experiment/grid.h"

namespace starling {

/// Part `number` (from 1) of a grid that is divided into `of`; 0 of 0: all of it.
struct GridPart {
  std::uint32_t number = 0, of = 0;
  [[nodiscard]] bool whole() const noexcept { return of == 0; }
};
/// "2/4". `invalid` says what would be right.
[[nodiscard]] Result<GridPart> read_part(const std::string& text);
[[nodiscard]] std::string text_of(const GridPart& part);

/// The indices of the part's runs, in the order of the grid. By rank of the runs' ids, so that
/// every part has its share of each policy, load and data centre; the same on every machine, and
/// each run is in exactly one part.
[[nodiscard]] std::vector<std::size_t> runs_of(const std::vector<RunPoint>& points,
                                               const GridPart& part);

/// "fifo on a, w, load 0.7, seed 2", as messages name a run.
[[nodiscard]] std::string in_words(const RunPoint& point);

}  // namespace starling
