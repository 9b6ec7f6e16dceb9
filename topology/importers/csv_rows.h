// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/reading/diagnostics.h"

namespace starling {

/// A line of a table without quoting.
struct CsvRow {
  int line = 0;
  std::vector<std::string_view> cells;
};

/// The rows below the header that have as many cells as `header`; others are reported, and so is a
/// table without rows. Empty lines are skipped, line ends may be Windows'. Views into `text`.
[[nodiscard]] std::vector<CsvRow> csv_rows(std::string_view text, std::string_view header,
                                           Diagnostics& diagnostics);

/// A whole number of at most `max`, or nothing after reporting the cell.
[[nodiscard]] std::optional<std::uint64_t> csv_whole(const CsvRow& row, std::size_t cell,
                                                     const char* column, std::uint64_t max,
                                                     Diagnostics& diagnostics);
/// A printable name without spaces or braces, or nothing after reporting the cell.
[[nodiscard]] std::optional<std::string> csv_name(const CsvRow& row, std::size_t cell,
                                                  const char* column, Diagnostics& diagnostics);

}  // namespace starling
