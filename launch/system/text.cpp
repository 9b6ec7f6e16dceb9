// SPDX-License-Identifier: Apache-2.0
#include "launch/system/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/edit_distance.h"
#include "base/visible.h"

namespace starling {
namespace {

std::string formatted(const char* format, double x) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, x);
  return buffer;
}

std::string three_figures(double x, const char* unit) {
  const char* format = x < 10 ? "%.2f" : x < 100 ? "%.1f" : "%.0f";
  return formatted(format, x) + " " + unit;
}

}  // namespace

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_decimal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string with_commas(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string human_seconds(double s) {
  if (s < 0) return "-";
  if (s < 1) return three_figures(s * 1e3, "ms");
  if (s < 120) return three_figures(s, "s");
  if (s < 7200) return three_figures(s / 60, "min");
  if (s < 2 * 86'400) return three_figures(s / 3600, "h");
  return three_figures(s / 86'400, "d");
}

std::string human_micros(double us) {
  return us < 1000 ? formatted("%.0f us", us) : three_figures(us / 1000, "ms");
}

std::string percent(double fraction) { return formatted("%.1f %%", fraction * 100); }

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

std::string narrow_table(std::vector<std::vector<std::string>>& rows, std::size_t width,
                         std::size_t kept) {
  if (rows.empty()) return {};
  const auto column_width = [&](std::size_t c) {
    std::size_t most = 0;
    for (const auto& row : rows) most = std::max(most, row[c].size());
    return most + 2;
  };
  const auto says_nothing = [&](std::size_t c) {
    return std::all_of(rows.begin() + 1, rows.end(),
                       [&](const auto& row) { return row[c] == "0" || row[c] == "-"; });
  };
  std::size_t total = 0;
  for (std::size_t c = 0; c < rows.front().size(); ++c) total += column_width(c);
  std::string zeros, others;
  for (const bool only_zeros : {true, false}) {
    for (std::size_t c = rows.front().size(); c-- > kept && total > width + 2;) {
      if (only_zeros && !says_nothing(c)) continue;
      std::string& names = only_zeros ? zeros : others;
      names = rows.front()[c] + (names.empty() ? "" : ", ") + names;
      total -= column_width(c);
      for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
    }
  }
  std::string text;
  if (!zeros.empty()) text += "0 everywhere: " + zeros;
  if (!others.empty()) text += (text.empty() ? "" : "; ") + ("no room for: " + others);
  return text;
}

std::string wrapped(const std::string& line, std::size_t width) {
  std::string text;
  std::size_t used = 0;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size()), size = end - at;
    if (at > 0 && used + 1 + size > width) {
      text += "\n  ";
      used = 2;
    } else if (at > 0) {
      text += ' ';
      ++used;
    }
    text.append(line, at, size);
    used += size;
    at = end + 1;
  }
  return text;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string table_text(std::vector<std::vector<std::string>> rows) {
  if (rows.empty()) return {};
  for (auto& row : rows) {
    for (std::string& cell : row) cell = visible_line(cell);
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size() && c < widths.size(); ++c) {
      widths[c] = std::max(widths[c], row[c].size());
    }
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < rows[r].size() && c < widths.size(); ++c) {
      const std::string& cell = rows[r][c];
      const std::string pad(widths[c] - cell.size(), ' ');
      line += (c == 0 ? cell + pad : "  " + pad + cell);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r == 0) {
      std::size_t total = 0;
      for (const std::size_t w : widths) total += w + 2;
      text += std::string(total - 2, '-') + "\n";
    }
  }
  return text;
}

}  // namespace starling
