// SPDX-License-Identifier: Apache-2.0
// How far the tier form is from placements that others measured.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/test_data.h"
#include "interference/iteration.h"
#include "interference/sync.h"
#include "topology/generate/generate.h"
#include "workload/text/csv.h"
#include "workload/text/text_file.h"

using namespace starling;

namespace {

std::vector<std::vector<std::string>> rows(const std::filesystem::path& file) {
  const std::string text = read_text_file(file).value();
  CsvReader csv(text);
  std::vector<std::vector<std::string>> out;
  std::vector<std::string_view> fields;
  while (csv.next(fields)) out.emplace_back(fields.begin(), fields.end());
  out.erase(out.begin());
  return out;
}

double number(const std::string& text) {
  double value = 0;
  REQUIRE(parse_number(text, value));
  return value;
}

Topology servers(const std::string& type, std::uint32_t gpus, double pcie_gbps, double nic_gbps) {
  GeneratorOptions options;
  options.servers = 16;
  options.gpu_type = type;
  options.gpus_per_server = gpus;
  options.gpus_per_island = 1;  // no NVLink
  options.pcie_gbps = pcie_gbps;
  options.nic_gbps = nic_gbps;
  options.cpus = 1000;
  return generate_flat(options).value();
}

struct Errors {
  std::vector<double> absolute;
  void add(double predicted, double measured) {
    absolute.push_back(std::abs(predicted - measured));
  }
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double e : absolute) sum += e;
    return sum / static_cast<double>(absolute.size());
  }
};

}  // namespace

// T4 servers of 4 on PCIe x8, between which one flow gets 5 Gbit/s. Compared per application and
// batch: the speed of a placement relative to one GPU. T_grad is the measured one-GPU time, so only
// T_sync and its overlap are judged: the constants that were fitted to the iteration times.
TEST_CASE("speeds of Pollux' placements are met to 0.06 on average" *
          doctest::test_suite("published data")) {
  const auto file = test_data("pollux/placements.csv");
  if (!file) return;
  const std::map<std::string, std::string> models = {
      {"bert", "bert-base"},    {"cifar10", "resnet18"}, {"deepspeech2", "deepspeech2"},
      {"imagenet", "resnet50"}, {"ncf", "neumf"},        {"yolov3", "yolov3"}};
  constexpr double kGbps = 1e9 / 8;
  const auto all = rows(*file);
  std::map<std::pair<std::string, std::string>, double> alone;
  for (const auto& row : all) {
    if (row[1] == "1") alone[{row[0], row[2]}] = number(row[3]);
  }
  std::map<std::string, Errors> errors;
  for (const auto& row : all) {
    const auto one = alone.find({row[0], row[2]});
    if (row[1] == "1" || one == alone.end()) continue;
    std::size_t gpus = 0;
    for (const char digit : row[1]) gpus += static_cast<std::size_t>(digit - '0');
    const SyncPath path{64 * kGbps * kPcieShare, 5 * kGbps * kNetworkShare,
                        row[1].size() > 1 ? Tier::rack : Tier::server};
    const double together =
        synced_s(model_profile(models.at(row[0])), one->second, gpus, row[1].size(), 0, path);
    errors[row[0]].add(one->second / together, one->second / number(row[3]));
    errors["all"].add(one->second / together, one->second / number(row[3]));
  }
  for (const auto& [name, error] : errors) {
    MESSAGE(name << ": mean absolute error of the relative speed " << error.mean() << " over "
                 << error.absolute.size() << " rows");
  }
  CHECK(errors["all"].mean() < 0.06);
}

// Chronus names no network; 10 Gbit/s comes nearest. T_grad is the catalogue's.
TEST_CASE("Chronus' placement sensitivity is met to 0.2 on average" *
          doctest::test_suite("published data")) {
  const auto file = test_data("chronus/placement_sensitivity.csv");
  if (!file) return;
  const IterationForm form(servers("V100", 8, 128, 10), 0);
  Errors errors;
  for (const auto& row : rows(*file)) {
    const auto count = static_cast<std::uint32_t>(number(row[1]));
    const auto nodes = static_cast<std::uint32_t>(number(row[2]));
    if (nodes == 1) continue;
    Placement packed;
    Placement spread;
    for (std::uint32_t g = 0; g < count; ++g) packed.emplace_back(g);
    for (std::uint32_t g = 0; g < count; ++g) spread.emplace_back(g % nodes * 8 + g / nodes);
    std::sort(spread.begin(), spread.end());
    const JobProfile job{row[0], count, 0};
    const double predicted = form.iteration_s(job, packed, {}) / form.iteration_s(job, spread, {});
    errors.add(predicted, number(row[3]));
  }
  MESSAGE("mean absolute error of the relative speed " << errors.mean() << " over "
                                                       << errors.absolute.size() << " rows");
  CHECK(errors.mean() < 0.2);
}

// The whole form on servers of 8 P100s on PCIe, 10 Gbit/s between them: spread over as many servers
// as GPUs against packed. The fitter's errors (interference/fit) are of constants of each GPU type.
TEST_CASE("Gavel's jobs lose by spreading on P100s what was measured, to 0.1 of their speed" *
          doctest::test_suite("published data")) {
  const auto file = test_data("gavel/isolated.csv");
  if (!file) return;
  const IterationForm form(servers("P100", 8, 128, 10), 0);
  struct Speeds {
    double packed = 0, spread = 0;
  };
  std::map<std::tuple<std::string, std::string, std::uint32_t>, Speeds> measured;
  for (const auto& row : rows(*file)) {
    if (row[0] != "2020_sim" || row[1] != "p100" || row[5] == "1") continue;
    const auto count = static_cast<std::uint32_t>(number(row[5]));
    Speeds& speeds = measured[{row[3], row[4], count}];
    (row[2] == "consolidated" ? speeds.packed : speeds.spread) = number(row[6]);
  }
  std::map<std::string, Errors> errors;
  for (const auto& [key, speeds] : measured) {
    const auto& [model, batch, count] = key;
    if (speeds.packed <= 0 || speeds.spread <= 0) continue;
    Placement packed, spread;
    for (std::uint32_t g = 0; g < count; ++g) packed.emplace_back(g);
    for (std::uint32_t g = 0; g < count; ++g) spread.emplace_back(8 * g);
    const JobProfile job{model + " (batch size " + batch + ")", count, 0};
    REQUIRE(model_profile(job.model).gavel_type >= 0);
    const double ratio = form.iteration_s(job, packed, {}) / form.iteration_s(job, spread, {});
    errors[model].add(ratio, speeds.spread / speeds.packed);
    errors["all"].add(ratio, speeds.spread / speeds.packed);
  }
  for (const auto& [name, error] : errors)
    MESSAGE(name << ": mean absolute error of unconsolidated / consolidated " << error.mean()
                 << " over " << error.absolute.size() << " rows");
  CHECK(errors["all"].mean() < 0.1);
}
