// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/data_table.h"

#include "base/check.h"
#include "workload/text/csv.h"
#include "workload/text/text_file.h"

namespace starling {

Result<DataTable> DataTable::read(const std::filesystem::path& file,
                                  const std::vector<std::string_view>& needs) {
  const Result<std::string> text = read_text_file(file);
  if (!text) return text.error();
  DataTable table;
  table.file_ = file.string();
  CsvReader csv(text.value());
  std::vector<std::string_view> fields;
  csv.next(fields);
  for (std::size_t i = 0; i < fields.size(); ++i) table.columns_[std::string(fields[i])] = i;
  for (const std::string_view column : needs) {
    if (!table.columns_.contains(column))
      return {Errc::invalid, table.file_ + ":1: column '" + std::string(column) + "' is missing"};
  }
  const std::size_t width = fields.size();
  while (csv.next(fields)) {
    if (fields.size() != width) {
      return {Errc::invalid, table.file_ + ':' + std::to_string(csv.line()) + ": has " +
                                 std::to_string(fields.size()) + " fields; the header has " +
                                 std::to_string(width)};
    }
    table.rows_.emplace_back(fields.begin(), fields.end());
    table.lines_.push_back(csv.line());
  }
  return table;
}

const std::string& DataTable::text(std::size_t row, std::string_view column) const {
  const auto at = columns_.find(column);
  STARLING_CHECK(at != columns_.end());
  return rows_[row][at->second];
}

Result<double> DataTable::number(std::size_t row, std::string_view column) const {
  double value = 0;
  if (parse_number(text(row, column), value)) return value;
  return {Errc::invalid, file_ + ':' + std::to_string(lines_[row]) + ": " + std::string(column) +
                             " is '" + text(row, column) + "'; write a number"};
}

}  // namespace starling
