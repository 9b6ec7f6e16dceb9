// SPDX-License-Identifier: Apache-2.0
// Pairs of jobs on one GPU: Gavel's, the campaign of the paper. How well the form meets Lucid's is
// told too, but nothing fitted to those goes on: their licence forbids any use for money.
#include <algorithm>
#include <map>

#include "interference/fit/data_table.h"
#include "interference/fit/sources.h"
#include "workload/catalogue.h"
#include "workload/gavel_throughput.h"

namespace starling {
namespace {

constexpr double kTarget = 0.10;

// What one GPU type's fit is met to: of pairs that it has seen, and of others.
void add_errors(const std::string& source, const std::string& gpu,
                const std::vector<PairFigures>& figures, const std::vector<PairSample>& samples,
                std::size_t terms, FitReport& report) {
  const double seen = pair_error(figures, samples);
  const double withheld = withheld_pair_error(samples, figures.size(), terms);
  report.sources.push_back({source, "relative speed in pairs, " + gpu + ", absolute",
                            samples.size(), 0, seen, seen, kTarget});
  report.sources.push_back({source, "the same of withheld pairs, " + gpu, samples.size(), 0,
                            withheld, withheld, kTarget});
}

double middle(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// For a job of which nothing is known.
PairFigures middle(const std::vector<PairFigures>& figures) {
  std::vector<double> keeps, leaves;
  for (const PairFigures& f : figures) {
    keeps.push_back(f.keeps);
    leaves.push_back(f.leaves);
  }
  return {middle(keeps), middle(leaves), {}, {}};
}

Result<std::size_t> gavel_index(const DataTable& table, std::size_t row, std::string_view model,
                                std::string_view batch) {
  const Result<double> size = table.number(row, batch);
  if (!size) return size.error();
  const GavelJobType* type =
      gavel_job_type(table.text(row, model), static_cast<std::uint32_t>(size.value()));
  if (type == nullptr)
    return Error{Errc::invalid, "gavel/colocated.csv: '" + table.text(row, model) +
                                    "' at batch size " + table.text(row, batch) +
                                    " is none of Gavel's 26 job types"};
  return static_cast<std::size_t>(type - gavel_job_types().data());
}

}  // namespace

Status fit_gavel_pairs(const std::filesystem::path& folder, FitReport& report) {
  const auto read = DataTable::read(
      folder / "gavel" / "colocated.csv",
      {"campaign", "gpu", "model_a", "batch_a", "model_b", "batch_b", "norm_a", "norm_b"});
  if (!read) return read.error();
  const DataTable& table = read.value();
  std::map<std::string, std::vector<PairSample>> samples;  // by GPU type
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, "campaign") != "2020") continue;
    if (table.text(row, "norm_a").empty()) continue;  // did not run
    const auto a = gavel_index(table, row, "model_a", "batch_a");
    const auto b = gavel_index(table, row, "model_b", "batch_b");
    const Result<double> norm_a = table.number(row, "norm_a");
    const Result<double> norm_b = table.number(row, "norm_b");
    if (!a) return a.error();
    if (!b) return b.error();
    if (!norm_a) return norm_a.error();
    if (!norm_b) return norm_b.error();
    std::vector<PairSample>& here = samples[table.text(row, "gpu")];
    // Speeds of 1 were clipped there.
    here.push_back({a.value(), b.value(), norm_a.value(), norm_a.value() >= 1, row});
    if (a.value() != b.value())
      here.push_back({b.value(), a.value(), norm_b.value(), norm_b.value() >= 1, row});
  }
  if (samples.empty()) return {Errc::invalid, "gavel/colocated.csv has no pair that ran"};
  for (const auto& [gpu, some] : samples) {
    const auto figures = fit_pairs(some, gavel_job_types().size(), kPairTerms);
    add_errors("gavel", gpu, figures, some, kPairTerms, report);
    report.sharing.push_back({gpu, "", middle(figures)});
    for (std::size_t type = 0; type < figures.size(); ++type)
      report.sharing.push_back({gpu, gavel_job_types()[type].job_model(), figures[type]});
  }
  return done();
}

Status fit_lucid_pairs(const std::filesystem::path& folder, FitReport& report) {
  const auto read =
      DataTable::read(folder / "lucid" / "colocate.csv", {"model1", "model2", "speed1", "speed2"});
  if (!read) return read.error();
  const DataTable& table = read.value();
  std::map<std::string, std::size_t> index;
  std::vector<PairSample> samples;
  // The speeds of PPO and TD3 were not measured.
  const auto add = [&](const std::string& own, const std::string& other, double speed,
                       std::size_t row) {
    if (own == "PPO" || own == "TD3") return;
    samples.push_back({index.at(own), index.at(other), speed, false, row});
  };
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string& a = table.text(row, "model1");
    const std::string& b = table.text(row, "model2");
    for (const std::string& name : {a, b}) index.emplace(name, index.size());
    const Result<double> speed_a = table.number(row, "speed1");
    const Result<double> speed_b = table.number(row, "speed2");
    if (!speed_a) return speed_a.error();
    if (!speed_b) return speed_b.error();
    add(a, b, speed_a.value(), row);
    add(b, a, speed_b.value(), row);
  }
  const auto figures = fit_pairs(samples, index.size(), 0);
  add_errors("lucid", "one type", figures, samples, 0, report);
  return done();
}

}  // namespace starling
