// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace starling {

/// Splits RFC 4180 text into rows of fields: commas, LF or CRLF, "quoted" fields with "" inside.
/// Blank lines are skipped, as is a byte-order mark. Fields are views into `text`, or, where a
/// quote had to be taken out, into the reader; they are good until the next call.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text);

  /// The next row, or false at the end and at a broken quote (then bad_quote() is true).
  bool next(std::vector<std::string_view>& fields);
  /// Line number, from 1, on which the latest row starts.
  [[nodiscard]] std::uint64_t line() const noexcept { return row_line_; }
  [[nodiscard]] bool bad_quote() const noexcept { return bad_quote_; }

 private:
  bool quoted_field(std::string_view& field);

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t row_line_ = 0;
  bool bad_quote_ = false;
  std::deque<std::string> unquoted_;  // a deque: growing does not move what views point to
};

/// `text` as one CSV field: quoted if it has to be.
[[nodiscard]] std::string csv_field(std::string_view text);

/// Whole text as a number; false for anything else, for infinities and for NaN. Surrounding blanks
/// are allowed.
[[nodiscard]] bool parse_number(std::string_view text, double& number) noexcept;
[[nodiscard]] bool parse_number(std::string_view text, std::int64_t& number) noexcept;
/// Seconds with up to nine decimals, exact to the nanosecond; also 1e3. False below 0 or above 292
/// years.
[[nodiscard]] bool parse_seconds(std::string_view text, Duration& duration) noexcept;
/// What parse_seconds reads back to the same duration: 12, 0.5, 1.000000001.
[[nodiscard]] std::string format_seconds(Duration duration);

}  // namespace starling
