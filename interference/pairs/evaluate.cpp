// SPDX-License-Identifier: Apache-2.0
#include "interference/pairs/evaluate.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

constexpr double kCovered = 0.9;
constexpr double kLeastFloor = 0.005;

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  // Conformal: one more than the rows, so that the next row is covered that often.
  const auto rank =
      static_cast<std::size_t>(std::ceil(part * (static_cast<double>(values.size()) + 1)));
  const std::size_t at = std::min(rank, values.size()) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace

std::vector<PairIntervals::Scale> fit_intervals(const PairData& data,
                                                const std::vector<PairGuess>& guesses,
                                                const std::vector<bool>& counts) {
  std::vector<PairIntervals::Scale> out;
  const auto of_set = [&](std::int64_t set) {
    std::vector<double> errors, scores;
    const auto each = [&](auto&& use) {
      for (std::size_t i = 0; i < data.rows.size(); ++i) {
        if (!counts[i] || (set >= 0 && data.rows[i].set != set)) continue;
        const double answer = as_measured(data, data.rows[i].set, guesses[i].mean);
        use(std::abs(answer - static_cast<double>(data.rows[i].speed)), guesses[i].sd);
      }
    };
    each([&](double error, double) { errors.push_back(error); });
    PairIntervals::Scale scale;
    scale.floor = std::max(quantile(errors, 0.5), kLeastFloor);
    each([&](double error, double sd) { scores.push_back(error / (scale.floor + sd)); });
    scale.width = scores.empty() ? 2 : quantile(scores, kCovered);
    return std::pair(scale, scores.size());
  };
  const PairIntervals::Scale all = of_set(-1).first;
  for (std::size_t s = 0; s < data.sets.size(); ++s) {
    const auto [scale, rows] = of_set(static_cast<std::int64_t>(s));
    out.push_back(rows >= 20 ? scale : all);
  }
  return out;
}

double as_measured(const PairData& data, std::uint32_t set, double speed) {
  const bool clipped =
      data.source == PairSource::deepshare || data.sets[set].rfind("2020/", 0) == 0;
  return clipped ? std::min(speed, 1.0) : speed;
}

void PairErrors::add(double speed, const PairAnswer& answer) {
  const double off = std::abs(answer.speed - speed);
  ++rows;
  mae += off;
  rmse += off * off;
  if (off <= answer.half) ++coverage90;
}

void PairErrors::close() {
  if (rows == 0) return;
  const auto n = static_cast<double>(rows);
  mae /= n;
  rmse = std::sqrt(rmse / n);
  mean_mae /= n;
  coverage90 /= n;
}

std::vector<ShareWorth> worth_sharing(const PairData& data, const std::vector<double>& ours) {
  struct Total {
    double measured = 0, ours = 0;
    int directions = 0;
    bool twice = false;  // of one type: one direction is both
  };
  std::vector<Total> totals(data.pairs);
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const PairRow& row = data.rows[i];
    Total& total = totals[row.pair];
    total.measured += static_cast<double>(row.speed);
    total.ours += ours[i];
    ++total.directions;
    total.twice = row.victim == row.other;
  }
  std::vector<ShareWorth> out;
  for (const double gain : {0.0, 0.3}) {
    ShareWorth worth{gain, 0, 0};
    for (const Total& total : totals) {
      if (total.directions != 2 && !(total.directions == 1 && total.twice)) continue;
      const double times = total.twice && total.directions == 1 ? 2 : 1;
      ++worth.pairs;
      if ((times * total.measured > 1 + gain) != (times * total.ours > 1 + gain)) ++worth.wrong;
    }
    if (worth.pairs > 0) out.push_back(worth);
  }
  return out;
}

double area_under_curve(const std::vector<std::pair<double, bool>>& scores) {
  std::vector<std::pair<double, bool>> sorted = scores;
  std::sort(sorted.begin(), sorted.end());
  double ranks = 0, ran = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    double here = 0;
    while (end < sorted.size() && sorted[end].first <= sorted[i].first)
      here += sorted[end++].second ? 1 : 0;
    ranks += here * (static_cast<double>(i + end) + 1) / 2;  // ties share their mean rank
    ran += here;
    i = end;
  }
  const double failed = static_cast<double>(sorted.size()) - ran;
  if (ran <= 0 || failed <= 0) return 1;
  return (ranks - ran * (ran + 1) / 2) / (ran * failed);
}

}  // namespace starling
