// Gavel's pairs of jobs on one GPU, the campaign of the paper.
#include <algorithm>
#include <cmath>
#include <map>

#include "interference/fit/data_table.h"
#include "interference/fit/nelder_mead.h"
#include "interference/fit/sources.h"

namespace starling {
namespace {

using Pairs = std::map<std::pair<std::string, std::string>, std::vector<double>>;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Relative speeds by (own model, other model). Ones are left out: they were clipped there.
Result<Pairs> read_pairs(const std::filesystem::path& folder) {
  const auto table = DataTable::read(folder / "gavel" / "colocated.csv",
                                     {"campaign", "model_a", "model_b", "norm_a", "norm_b"});
  if (!table) return table.error();
  Pairs pairs;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    if (table.value().text(row, "campaign") != "2020") continue;
    if (table.value().text(row, "norm_a").empty()) continue;  // infeasible
    const std::string& a = table.value().text(row, "model_a");
    const std::string& b = table.value().text(row, "model_b");
    const Result<double> norm_a = table.value().number(row, "norm_a");
    const Result<double> norm_b = table.value().number(row, "norm_b");
    if (!norm_a) return norm_a.error();
    if (!norm_b) return norm_b.error();
    if (norm_a.value() > 0 && norm_a.value() < 1) pairs[{a, b}].push_back(norm_a.value());
    if (norm_b.value() > 0 && norm_b.value() < 1) pairs[{b, a}].push_back(norm_b.value());
  }
  return pairs;
}

}  // namespace

Status fit_sharing(const std::filesystem::path& folder, FitReport& report) {
  const Result<Pairs> pairs = read_pairs(folder);
  if (!pairs) return pairs.error();
  std::map<std::string, std::size_t> index;
  for (const auto& [key, values] : pairs.value()) index.emplace(key.first, 0);
  std::size_t count = 0;
  for (auto& [name, at] : index) at = count++;
  struct Cell {
    std::size_t own, other;
    double speed;
  };
  std::vector<Cell> cells;
  for (const auto& [key, values] : pairs.value()) {
    const auto other = index.find(key.second);
    if (other != index.end()) cells.push_back({index.at(key.first), other->second, median(values)});
  }
  const auto speed = [&](const std::vector<double>& x, const Cell& cell) {
    return 1 / (1 + std::abs(x[cell.own]) + std::abs(x[count + cell.other]));
  };
  const auto error = [&](const std::vector<double>& x) {
    double sum = 0;
    for (const Cell& cell : cells) sum += std::abs(speed(x, cell) - cell.speed);
    return sum / static_cast<double>(cells.size());
  };
  if (cells.empty()) return {Errc::invalid, "gavel/colocated.csv has no pair that ran"};
  const Minimum best = minimize(error, std::vector<double>(2 * count, 0.3), 0.3, 20'000, 6);
  for (const auto& [name, at] : index)
    report.sharing.push_back({name, std::abs(best.at[at]), std::abs(best.at[count + at])});
  report.sources.push_back({"gavel", "relative speed of pairs on one GPU, absolute", cells.size(),
                            0, best.value, best.value, 0.10});
  return done();
}

}  // namespace starling
