// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/assignment.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace starling {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr double kFar = std::numeric_limits<double>::infinity();

class Assignment {
 public:
  explicit Assignment(const std::vector<std::vector<double>>& cost)
      : cost_(cost),
        columns_(cost.front().size()),
        least_(kFar),
        row_price_(cost.size(), 0),
        column_price_(columns_, 0),
        column_of_(cost.size(), kNone),
        row_of_(columns_, kNone) {
    for (const auto& row : cost) least_ = std::min(least_, *std::ranges::min_element(row));
  }

  std::vector<std::size_t> solve() {
    for (std::size_t row = 0; row < cost_.size(); ++row) augment(row);
    return column_of_;
  }

 private:
  struct Paths {
    std::vector<double> length;              // by column
    std::vector<std::size_t> from;           // by column, the row before it
    std::vector<std::size_t> rows, columns;  // that are reached
    double shortest = 0;
    std::size_t end = kNone;
  };

  /// The shortest path from `row` to a column that is free.
  [[nodiscard]] Paths search(std::size_t row) const {
    Paths paths;
    paths.length.assign(columns_, kFar);
    paths.from.assign(columns_, kNone);
    std::vector<std::size_t> remaining(columns_);
    std::iota(remaining.rbegin(), remaining.rend(), 0);
    while (paths.end == kNone) {
      paths.rows.push_back(row);
      std::size_t best = kNone;
      double lowest = kFar;
      for (std::size_t at = 0; at < remaining.size(); ++at) {
        const std::size_t column = remaining[at];
        const double length = paths.shortest + (cost_[row][column] - least_) - row_price_[row] -
                              column_price_[column];
        if (length < paths.length[column]) {
          paths.length[column] = length;
          paths.from[column] = row;
        }
        const double known = paths.length[column];
        if (known < lowest || (known == lowest && row_of_[column] == kNone)) {
          lowest = known;
          best = at;
        }
      }
      STARLING_CHECK(best != kNone);
      paths.shortest = lowest;
      const std::size_t column = remaining[best];
      paths.columns.push_back(column);
      remaining[best] = remaining.back();
      remaining.pop_back();
      if (row_of_[column] == kNone) paths.end = column;
      row = row_of_[column];
    }
    return paths;
  }

  void augment(std::size_t row) {
    const Paths paths = search(row);
    row_price_[row] += paths.shortest;
    for (const std::size_t other : paths.rows) {
      if (other != row) row_price_[other] += paths.shortest - paths.length[column_of_[other]];
    }
    for (const std::size_t column : paths.columns)
      column_price_[column] -= paths.shortest - paths.length[column];
    for (std::size_t column = paths.end; column != kNone;) {
      const std::size_t by = paths.from[column];
      row_of_[column] = by;
      const std::size_t before = column_of_[by];
      column_of_[by] = column;
      column = by == row ? kNone : before;
    }
  }

  const std::vector<std::vector<double>>& cost_;
  std::size_t columns_;
  double least_;
  std::vector<double> row_price_, column_price_;
  std::vector<std::size_t> column_of_, row_of_;
};

}  // namespace

std::vector<std::size_t> least_assignment(const std::vector<std::vector<double>>& cost) {
  if (cost.empty()) return {};
  STARLING_CHECK(cost.size() <= cost.front().size());
  return Assignment(cost).solve();
}

}  // namespace starling
