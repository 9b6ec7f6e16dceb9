// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starling {

/// The whole of `text` as a number; nothing for signs, spaces, rests or overflow.
[[nodiscard]] std::optional<std::uint64_t> parse_whole(std::string_view text);
/// The whole of `text` as a finite decimal number.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);

/// 12,345
[[nodiscard]] std::string with_commas(std::uint64_t n);
/// "840 ms", "12.3 s", "14.2 min", "2.31 h", "3.40 d": three figures and a unit.
[[nodiscard]] std::string human_seconds(double s);
/// "85 us", "1.20 ms"
[[nodiscard]] std::string human_micros(double us);
/// "71.3 %"
[[nodiscard]] std::string percent(double fraction);

/// The candidate with the smallest edit distance to `word`, if it is near enough to be meant.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& candidates);

/// The words, with `between` between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& words, const char* between);

/// The line, broken at blanks so that none is wider than `width`; those that follow are set in by
/// two blanks. A word that is wider stays whole.
[[nodiscard]] std::string wrapped(const std::string& line, std::size_t width);

/// Columns padded to their widest cell: the first to the left, the others to the right. The first
/// row is the heading and is underlined. Rows may be shorter than the first. What could fool a
/// terminal reads '?' (base/visible.h).
[[nodiscard]] std::string table_text(std::vector<std::vector<std::string>> rows);

/// Takes columns out of `rows` until they fit `width` characters as a table: first those that are
/// "0" or "-" in every row, then others, each time the last; never the first `kept`. A sentence
/// says which; empty if all are there.
[[nodiscard]] std::string narrow_table(std::vector<std::vector<std::string>>& rows,
                                       std::size_t width, std::size_t kept);

}  // namespace starling
