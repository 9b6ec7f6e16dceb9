// SPDX-License-Identifier: Apache-2.0
// FGD and the policies that it was compared with, on openb: the pods in the order and the nodes in
// the rank that the published simulator drew, so that nothing is left to chance.
#include <algorithm>

#include "sim/published/openb/openb_run.h"
#include "sim/published/papers.h"

namespace starling {
namespace {

struct ComparedPolicy {
  const char* theirs;
  const char* ours;
};
constexpr ComparedPolicy kPolicies[] = {{"FGD", "fgd"},
                                        {"BestFit", "best-fit"},
                                        {"GpuPacking", "gpu-packing"},
                                        {"GpuClustering", "gpu-clustering"},
                                        {"DotProd", "dot-product"}};
constexpr ComparedPolicy kRandom = {"Random", "random"};

/// The runs of one list with one policy, theirs and ours, seed by seed.
struct ComparedRuns {
  std::vector<std::vector<double>> theirs, ours;
};

double mean_at(const std::vector<std::vector<double>>& curves, std::size_t point) {
  double sum = 0;
  for (const auto& curve : curves) sum += curve[point];
  return sum / static_cast<double>(curves.size());
}

class Comparison {
 public:
  Comparison(const OpenbInputs& inputs, const std::vector<PublishedCurve>& curves,
             const ReproductionProgress& progress)
      : inputs_(inputs), curves_(curves), progress_(progress) {}

  ReproductionReport report() {
    ReproductionReport report;
    for (const OpenbList& list : inputs_.lists) {
      for (const ComparedPolicy& policy : kPolicies) add_equal(list, policy, report);
      add_random(list, report);
    }
    report.notes.push_back(
        "random draws its own nodes, since the published draws hang on the order of threads");
    return report;
  }

 private:
  ComparedRuns run(const OpenbList& list, const ComparedPolicy& policy) {
    ComparedRuns runs;
    for (const PublishedCurve& curve : curves_) {
      if (curve.list != list.name || curve.policy != policy.theirs) continue;
      const auto draw = std::find_if(list.draws.begin(), list.draws.end(),
                                     [&](const OpenbDraw& d) { return d.seed == curve.seed; });
      if (draw == list.draws.end()) continue;
      progress_(done_++, curves_.size(), list.name + " " + policy.ours);
      runs.theirs.push_back(curve.points);
      runs.ours.push_back(run_openb(inputs_.cluster, list, *draw, policy.ours));
    }
    return runs;
  }

  static void add_end(const std::string& name, const ComparedRuns& runs,
                      std::optional<double> bound, ReproductionReport& report) {
    report.figures.push_back({name + ": allocated at 130 %, mean", "%",
                              mean_at(runs.theirs, kOpenbPoints - 1),
                              mean_at(runs.ours, kOpenbPoints - 1), bound, 2});
  }

  void add_equal(const OpenbList& list, const ComparedPolicy& policy, ReproductionReport& report) {
    const ComparedRuns runs = run(list, policy);
    if (runs.ours.empty()) return;
    std::size_t equal = 0;
    for (std::size_t i = 0; i < runs.ours.size(); ++i)
      equal += equal_points(runs.ours[i], runs.theirs[i]);
    const std::string name = list.name + ", " + policy.ours;
    const std::size_t all = runs.ours.size() * kOpenbPoints;
    report.figures.push_back(
        {name + ": equal points of " + std::to_string(runs.ours.size()) + " curves", "",
         static_cast<double>(all), static_cast<double>(equal), 0.0, 0});
    add_end(name, runs, 0.0, report);
  }

  void add_random(const OpenbList& list, ReproductionReport& report) {
    const ComparedRuns runs = run(list, kRandom);
    if (runs.ours.empty()) return;
    std::size_t within = 0;
    for (std::size_t point = 0; point < kOpenbPoints; ++point) {
      double least = 100, most = 0;
      for (const auto& curve : runs.theirs) {
        least = std::min(least, curve[point]);
        most = std::max(most, curve[point]);
      }
      const double mean = mean_at(runs.ours, point);
      within += mean >= least && mean <= most ? 1 : 0;
    }
    const std::string name = list.name + ", " + kRandom.ours;
    report.figures.push_back({name + ": points of the mean within the published range", "",
                              static_cast<double>(kOpenbPoints), static_cast<double>(within), 0.0,
                              0});
    add_end(name, runs, std::nullopt, report);
  }

  const OpenbInputs& inputs_;
  const std::vector<PublishedCurve>& curves_;
  const ReproductionProgress& progress_;
  std::uint64_t done_ = 0;
};

Result<ReproductionReport> run(const std::filesystem::path& data,
                               const ReproductionProgress& progress) {
  const auto inputs = read_openb_inputs(data);
  if (!inputs) return inputs.error();
  const auto curves = read_openb_curves(data, "allocation");
  if (!curves) return curves.error();
  ReproductionReport report = Comparison(inputs.value(), curves.value(), progress).report();
  if (report.figures.empty())
    return {Errc::invalid, (data / "conformance/openb_fgd_allocation.csv.gz").string() +
                               ": no row is of a list and a seed of openb_fgd_pods.csv.gz"};
  return report;
}

}  // namespace

Reproduction openb_fgd() {
  return {"openb-fgd", "FGD and its rivals pack openb's pods until 130 % of all GPUs are asked for",
          "Weng et al., Beware of Fragmentation, USENIX ATC 2023",
          "alibaba_openb2023/openb_*, conformance/openb_fgd_{pods,nodes,allocation}.csv.gz", run};
}

}  // namespace starling
