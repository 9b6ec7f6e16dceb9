// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "workload/traces/trace_format.h"

namespace starling {

/// The columns that a published format needs, in one row. The first field that cannot be read is
/// the error of the row; after it, the others read as 0.
class TableRow {
 public:
  TableRow(const TraceRow& row, std::span<const std::string_view> columns,
           std::span<const std::size_t> where)
      : row_(row), columns_(columns), where_(where) {}

  [[nodiscard]] std::string_view text(std::size_t column) const {
    return row_.fields[where_[column]];
  }
  /// Seconds of a column whose unit is `unit_s` seconds.
  Duration time(std::size_t column, double unit_s = 1);
  std::int64_t whole(std::size_t column, std::int64_t low, std::int64_t high);
  std::uint32_t gpus(std::size_t column);
  double real(std::size_t column);
  void fail(std::size_t column, const std::string& right);

  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

 private:
  const TraceRow& row_;
  std::span<const std::string_view> columns_;
  std::span<const std::size_t> where_;
  std::optional<Error> error_;
};

/// A published CSV format: it is told by its columns; others may stand beside them.
struct TraceTable {
  std::string_view name;
  std::span<const std::string_view> columns;
  TraceRowJob (*job)(TableRow& row);  ///< row.error() is looked at afterwards
};

/// The tables, each kNAMETable in a source of this folder, in the order in which they are tried:
/// one whose columns another has too comes after that one, as Tiresias' after Muri's. Gavel's is
/// also Shockwave's.
// clang-format off
#define STARLING_TRACE_TABLES(EACH) \
  EACH(Muri) \
  EACH(Tiresias) \
  EACH(Gavel) \
  EACH(Pollux) \
  EACH(Openb)
// clang-format on

#define STARLING_DECLARE_TABLE(Name) extern const TraceTable k##Name##Table;
STARLING_TRACE_TABLES(STARLING_DECLARE_TABLE)
#undef STARLING_DECLARE_TABLE

/// Has the header every column of the table?
[[nodiscard]] bool matches(const TraceTable& table, const TraceRow& header);
/// `invalid` names a column that is missing.
[[nodiscard]] Result<std::unique_ptr<TraceFormat>> table_format(const TraceTable& table,
                                                                const TraceRow& header);

}  // namespace starling
