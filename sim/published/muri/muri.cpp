// SPDX-License-Identifier: Apache-2.0
// What Muri was compared with in simulation, on its traces: the published simulator's rules leave no
// freedom but which of two equally long jobs is first.
#include <algorithm>
#include <functional>
#include <memory>

#include "sim/published/inputs.h"
#include "sim/published/muri/muri_policies.h"
#include "sim/published/papers.h"

namespace starling {
namespace {

constexpr const char* kExpected = "conformance/muri.json";
/// Last bits decide which of two equally long jobs is first; most traces have none.
constexpr double kBound = 0.02;

struct MuriTrace {
  const char* name;  ///< in kExpected, where "1_pr" is the same with all submitted at once
  const char* file;
};
constexpr MuriTrace kTraces[] = {{"1", "muri/trace1_vc_7f04ca.csv.gz"},
                                 {"2", "muri/trace2_vc_ee9e8c.csv.gz"},
                                 {"3", "muri/trace3_vc_2869ce.csv.gz"},
                                 {"4", "muri/trace4_vc_0e4a51.csv.gz"}};

struct ComparedSimulation {
  const char* name;  ///< in kExpected
  std::function<std::unique_ptr<MuriPolicy>()> make;
};

const std::vector<ComparedSimulation>& simulations() {
  static const std::vector<ComparedSimulation> all = {
      {"SRTF", [] { return std::make_unique<MuriShortest>(false); }},
      {"SRSF", [] { return std::make_unique<MuriShortest>(true); }},
      {"Tiresias-L", [] { return std::make_unique<MuriTiresias>(); }}};
  return all;
}

/// A figure of one policy on one trace. Throws where the file has none.
double published(const nlohmann::json& expected, const std::string& policy, const char* figure,
                 const std::string& trace) {
  const nlohmann::json& names = expected.at("about").at("traces");
  const auto at =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), trace) - names.begin());
  return expected.at("simulated").at(policy).at(figure).at(at).get<double>();
}

void add_figures(const nlohmann::json& expected, const std::string& policy, const MuriTrace& trace,
                 bool at_once, const MuriFigures& ours, ReproductionReport& report) {
  const std::string name = std::string(trace.name) + (at_once ? "_pr" : "");
  const std::string what = policy + ", trace " + name;
  const double jobs = expected.at("about").at("jobs").at(trace.name).get<double>();
  report.figures.push_back({what + ": jobs", "", jobs, static_cast<double>(ours.jobs), 0.0, 0});
  const auto add = [&](const char* said, const char* key, double value) {
    report.figures.push_back(
        {what + ": " + said, "s", published(expected, policy, key, name), value, kBound, 1});
  };
  add("mean JCT", "mean_jct_s", ours.mean_jct_s);
  add("makespan", "makespan_s", ours.makespan_s);
  add("p99 JCT", "p99_jct_s", ours.p99_jct_s);
}

Result<ReproductionReport> run(const std::filesystem::path& data,
                               const ReproductionProgress& progress) {
  const auto expected = published_json(data, kExpected);
  if (!expected) return expected.error();
  ReproductionReport report;
  std::uint64_t runs = 0;
  for (const MuriTrace& trace : kTraces) {
    const auto file = published_file(data, trace.file);
    if (!file) return file.error();
    for (const bool at_once : {false, true}) {
      const auto jobs = read_muri_jobs(file.value(), at_once);
      if (!jobs) return jobs.error();
      for (const ComparedSimulation& simulation : simulations()) {
        progress(runs++, 2 * std::size(kTraces) * simulations().size(),
                 std::string(simulation.name) + ", trace " + trace.name + (at_once ? "_pr" : ""));
        const auto policy = simulation.make();
        const MuriFigures ours = run_muri(jobs.value(), *policy);
        try {
          add_figures(expected.value(), simulation.name, trace, at_once, ours, report);
        } catch (const nlohmann::json::exception& wrong) {
          return {Errc::invalid, (data / kExpected).string() + ": " + wrong.what()};
        }
      }
    }
  }
  report.notes.push_back(
      "Themis is left out: many of its shares are one of several optima, and which one is a matter "
      "of "
      "its solver");
  report.notes.push_back(
      "AntMan, Muri-S and Muri-L are not made again: they pack jobs by the times of their stages");
  return report;
}

}  // namespace

Reproduction muri() {
  return {"muri", "SRTF, SRSF and Tiresias-L on Muri's traces, 8 servers of 8 V100",
          "Zhao et al., Muri, SIGCOMM 2022: its own simulator",
          "conformance/muri.json, muri/trace{1,2,3,4}_vc_*.csv.gz", run};
}

}  // namespace starling
