// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/pair_file.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "interference/fit/data_table.h"

namespace starling {
namespace {

struct PairSet {
  std::map<std::string, std::size_t> types;
  std::vector<PairSample> samples;
  std::vector<double> half_widths;
  std::size_t pairs = 0;
};

Status add_pair(const DataTable& table, std::size_t row, bool intervals, PairSet& set) {
  const auto type = [&](const char* model, const char* batch) {
    const std::string name = table.text(row, model) + ':' + table.text(row, batch);
    return set.types.emplace(name, set.types.size()).first->second;
  };
  const std::size_t a = type("model_a", "batch_a"), b = type("model_b", "batch_b");
  for (const bool first : {true, false}) {
    const std::string name = first ? "norm_a" : "norm_b";
    const Result<double> norm = table.number(row, name);
    if (!norm) return norm.error();
    set.samples.push_back({first ? a : b, first ? b : a, norm.value(), false, set.pairs});
    if (!intervals || table.text(row, name + "_low").empty()) continue;
    const Result<double> low = table.number(row, name + "_low");
    const Result<double> high = table.number(row, name + "_high");
    if (!low) return low.error();
    if (!high) return high.error();
    set.half_widths.push_back((high.value() - low.value()) / 2);
  }
  ++set.pairs;
  return done();
}

std::string cell(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%9.3f", value);
  return text;
}

}  // namespace

Result<std::vector<PairFileErrors>> fit_pair_file(const std::filesystem::path& file) {
  const auto read = DataTable::read(file, {"campaign", "gpu", "model_a", "batch_a", "model_b",
                                           "batch_b", "norm_a", "norm_b", "flag"});
  if (!read) return read.error();
  const DataTable& table = read.value();
  bool intervals = true;
  for (const char* column : {"norm_a_low", "norm_a_high", "norm_b_low", "norm_b_high"})
    intervals = intervals && table.has(column);
  std::map<std::string, PairSet> sets;
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, "norm_a").empty() || table.text(row, "flag") == "noisy") continue;
    PairSet& set = sets[table.text(row, "campaign") + '/' + table.text(row, "gpu")];
    if (const Status ok = add_pair(table, row, intervals, set); !ok) return ok.error();
  }
  if (sets.empty())
    return {Errc::invalid, file.string() + ": has no pair with speeds; measure some"};
  std::vector<PairFileErrors> out;
  for (auto& [name, set] : sets) {
    PairFileErrors errors;
    errors.set = name;
    errors.pairs = set.pairs;
    errors.mean = withheld_mean_error(set.samples);
    for (std::size_t terms = 0; terms <= kPairTerms; ++terms)
      errors.products[terms] = withheld_pair_error(set.samples, set.types.size(), terms);
    if (!set.half_widths.empty()) {
      const auto middle =
          set.half_widths.begin() + static_cast<std::ptrdiff_t>(set.half_widths.size() / 2);
      std::nth_element(set.half_widths.begin(), middle, set.half_widths.end());
      errors.noise = *middle;
    }
    out.push_back(std::move(errors));
  }
  return out;
}

std::string to_text(const std::vector<PairFileErrors>& sets) {
  std::string text =
      "mean error of withheld pairs' speeds\n"
      "   pairs     mean additive +1 product       +2       +3    noise  set\n";
  for (const PairFileErrors& set : sets) {
    char pairs[32];
    std::snprintf(pairs, sizeof pairs, "%8zu", set.pairs);
    text += pairs + cell(set.mean);
    for (const double error : set.products) text += cell(error);
    text += (set.noise ? cell(*set.noise) : std::string(8, ' ') + '-') + "  " + set.set + '\n';
  }
  return text;
}

std::string to_json(const std::vector<PairFileErrors>& sets) {
  auto all = nlohmann::ordered_json::array();
  for (const PairFileErrors& set : sets) {
    all.push_back({{"set", set.set},
                   {"pairs", set.pairs},
                   {"mean", set.mean},
                   {"additive", set.products[0]},
                   {"products", set.products},
                   {"noise", set.noise ? nlohmann::ordered_json(*set.noise) : nullptr}});
  }
  return nlohmann::ordered_json{{"sets", std::move(all)}}.dump(1);
}

}  // namespace starling
