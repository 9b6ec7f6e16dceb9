// SPDX-License-Identifier: Apache-2.0
#include "workload/traces/trace_table.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace starling {
namespace {

class TableFormat final : public TraceFormat {
 public:
  TableFormat(const TraceTable& table, std::vector<std::size_t> where)
      : table_(table), where_(std::move(where)) {}

  Result<TraceRowJob> read(const TraceRow& row) override {
    TableRow fields(row, table_.columns, where_);
    TraceRowJob out = table_.job(fields);
    if (fields.error()) return *fields.error();
    return out;
  }
  [[nodiscard]] bool rebased() const noexcept override { return false; }

 private:
  const TraceTable& table_;
  std::vector<std::size_t> where_;
};

}  // namespace

void TableRow::fail(std::size_t column, const std::string& right) {
  if (error_) return;
  error_ = row_.wrong(std::string(columns_[column]) + " is '" + std::string(text(column)) +
                      "'; write " + right);
}

Duration TableRow::time(std::size_t column, double unit_s) {
  Duration duration{0};
  double number = 0;
  if (unit_s == 1) {
    if (!parse_seconds(text(column), duration)) fail(column, "seconds from 0, as 66 or 66.5");
  } else if (!parse_number(text(column), number) || number < 0 || number * unit_s >= 9.2e9) {
    fail(column, "a number from 0, in units of " + std::to_string(unit_s) + " s");
  } else {
    duration = from_seconds(number * unit_s);
  }
  return duration;
}

std::int64_t TableRow::whole(std::size_t column, std::int64_t low, std::int64_t high) {
  std::int64_t number = 0;
  if (parse_number(text(column), number) && number >= low && number <= high) return number;
  fail(column, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return low;
}

std::uint32_t TableRow::gpus(std::size_t column) {
  return static_cast<std::uint32_t>(whole(column, 0, kTraceGangMax));
}

double TableRow::real(std::size_t column) {
  double number = 0;
  if (parse_number(text(column), number) && number >= 0 && number <= 1e15) return number;
  fail(column, "a number from 0");
  return 0;
}

bool matches(const TraceTable& table, const TraceRow& header) {
  return std::all_of(table.columns.begin(), table.columns.end(), [&](std::string_view column) {
    return std::find(header.fields.begin(), header.fields.end(), column) != header.fields.end();
  });
}

Result<std::unique_ptr<TraceFormat>> table_format(const TraceTable& table, const TraceRow& header) {
  std::vector<std::size_t> where;
  for (const std::string_view column : table.columns) {
    const auto at = std::find(header.fields.begin(), header.fields.end(), column);
    if (at == header.fields.end()) {
      return header.wrong("column '" + std::string(column) +
                          "' is missing; a trace in the format " + std::string(table.name) +
                          " has it");
    }
    where.push_back(static_cast<std::size_t>(at - header.fields.begin()));
  }
  return std::unique_ptr<TraceFormat>(std::make_unique<TableFormat>(table, std::move(where)));
}

}  // namespace starling
