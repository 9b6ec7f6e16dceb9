// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/csv_rows.h"

#include <algorithm>
#include <charconv>

#include "base/limits.h"

namespace starling {
namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

std::string_view without_cr(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

}  // namespace

std::vector<CsvRow> csv_rows(std::string_view text, std::string_view header,
                             Diagnostics& diagnostics) {
  const std::size_t columns = cells_of(header).size();
  std::vector<CsvRow> rows;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_cr(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number == 1) {
      if (line != header) {
        diagnostics.add({1, 1}, "the columns are '" + std::string(line.substr(0, 80)) +
                                    "'; they must be '" + std::string(header) + "'");
        return rows;
      }
      continue;
    }
    if (line.empty()) continue;
    CsvRow row{number, cells_of(line)};
    if (row.cells.size() != columns) {
      diagnostics.add({number, 0}, std::to_string(row.cells.size()) + " cells; write " +
                                       std::to_string(columns) + ": " + std::string(header));
      continue;
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty() && !diagnostics.any()) {
    diagnostics.add({1, 1}, "no rows; write one line per server below the header");
  }
  return rows;
}

std::optional<std::uint64_t> csv_whole(const CsvRow& row, std::size_t cell, const char* column,
                                       std::uint64_t max, Diagnostics& diagnostics) {
  const std::string_view text = row.cells[cell];
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size() && !text.empty() &&
      value <= max) {
    return value;
  }
  diagnostics.add({row.line, 0}, std::string(column) + " is '" + std::string(text.substr(0, 40)) +
                                     "'; write a whole number from 0 to " + std::to_string(max));
  return std::nullopt;
}

std::optional<std::string> csv_name(const CsvRow& row, std::size_t cell, const char* column,
                                    Diagnostics& diagnostics) {
  const std::string_view text = row.cells[cell];
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7f && c != '{' && c != '}';
  });
  if (plain && !text.empty() && text.size() <= Limits{}.name_bytes) return std::string(text);
  diagnostics.add({row.line, 0}, std::string(column) +
                                     " is empty, too long or holds spaces or "
                                     "braces; write a name of at most " +
                                     std::to_string(Limits{}.name_bytes) + " characters");
  return std::nullopt;
}

}  // namespace starling
