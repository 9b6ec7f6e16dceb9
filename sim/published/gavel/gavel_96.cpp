// SPDX-License-Identifier: Apache-2.0
// 96 jobs of Gavel's own trace through real agents and executors, each as fast as Gavel measured
// it. Rounds and solver leave freedom: 5 % and the same order of policies is agreement.
#include "interference/measured_physics.h"
#include "policies/registry.h"
#include "sim/published/inputs.h"
#include "sim/published/papers.h"
#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

constexpr const char* kExpected = "conformance/expected.json";
constexpr const char* kTrace = "gavel/traces/max_min_fairness.csv";
constexpr double kBound = 0.05;

struct PublishedPolicy {
  const char* theirs;  ///< its key in kExpected
  const char* ours;
  bool compared;
};
constexpr PublishedPolicy kGavel[] = {
    {"fifo", "gavel:objective=fifo,aware=no", false},
    {"fifo_perf", "gavel:objective=fifo,aware=yes", true},
    {"max_min_fairness", "gavel:objective=max-min-fairness,aware=no", true},
    {"max_min_fairness_perf", "gavel:objective=max-min-fairness,aware=yes", true},
    {"finish_time_fairness_perf", "gavel:objective=finish-time-fairness,aware=yes", true},
    {"min_total_duration_perf", "gavel:objective=makespan,aware=yes", true}};

Topology gavel_cluster() {
  GeneratorOptions options;
  options.groups = {{8, "V100"}, {16, "P100"}, {24, "K80"}};
  options.gpus_per_server = 1;
  return generate_flat(options).value();
}

/// How many pairs of policies stand in the published order of mean JCT.
Figure order_figure(const std::vector<std::pair<double, double>>& theirs_ours) {
  Figure figure{"pairs of policies in the published order", "", 0, 0, 0.0, 0};
  for (const auto& [theirs, ours] : theirs_ours) {
    for (const auto& [other_theirs, other_ours] : theirs_ours) {
      if (theirs >= other_theirs) continue;
      ++figure.published;
      figure.ours += ours < other_ours ? 1 : 0;
    }
  }
  return figure;
}

Result<ReproductionReport> run(const std::filesystem::path& data,
                               const ReproductionProgress& progress) {
  const auto expected = published_json(data, kExpected);
  if (!expected) return expected.error();
  const auto file = published_file(data, kTrace);
  if (!file) return file.error();
  auto trace = read_trace(file.value(), {});
  if (!trace) return trace.error();
  const Topology topology = gavel_cluster();
  run_as_measured(trace.value(), topology);
  const PolicyRegistry registry = make_policy_registry();
  ReproductionReport report;
  std::vector<std::pair<double, double>> order;
  std::uint64_t runs = 0;
  for (const PublishedPolicy& policy : kGavel) {
    const auto theirs = published_row(expected.value(), "gavel_96", policy.theirs, 2);
    if (!theirs) return Error{Errc::invalid, (data / kExpected).string() + theirs.error().message};
    progress(runs++, std::size(kGavel), policy.ours);
    SimOptions options;
    options.policy = policy.ours;
    options.physics = PhysicsKind::measured;
    options.speed.kind = SpeedKind::physics;
    const auto result = simulate(topology, trace.value(), registry, options);
    if (!result) return result.error();
    const RunFigures ours = figures(result.value());
    const std::string name = policy.ours;
    const auto bound = policy.compared ? std::optional(kBound) : std::nullopt;
    report.figures.push_back(
        {name + ": mean JCT", "s", theirs.value()[0], ours.avg_jct_s, bound, 0});
    report.figures.push_back(
        {name + ": makespan", "s", theirs.value()[1], ours.makespan_s, bound, 0});
    if (policy.compared) order.emplace_back(theirs.value()[0], ours.avg_jct_s);
  }
  report.figures.push_back(order_figure(order));
  report.notes.push_back(
      "agnostic FIFO is reported only: the published code draws a GPU type and then takes another, "
      "ours takes the one that it draws");
  return report;
}

}  // namespace

Reproduction gavel_96() {
  return {"gavel-96", "Gavel's policies on 96 jobs, 8 V100, 16 P100 and 24 K80",
          "Narayanan et al., Gavel, OSDI 2020: its own simulator, rounds of 360 s, seed 0",
          "conformance/expected.json, gavel/traces/max_min_fairness.csv", run};
}

}  // namespace starling
