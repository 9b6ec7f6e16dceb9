// SPDX-License-Identifier: Apache-2.0
// A week of the Philly trace through real agents, executors, codec and driver: FIFO and SJF leave
// no freedom, so the figures of plain list schedulers have to come out to the last digit.
#include <algorithm>

#include "policies/registry.h"
#include "sim/published/inputs.h"
#include "sim/published/papers.h"
#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

constexpr const char* kExpected = "conformance/expected.json";
constexpr const char* kTrace = "conformance/philly_week.csv.gz";

struct PublishedWeek {
  const char* theirs;  ///< its key in kExpected
  const char* policy;  ///< what we call it
};
constexpr PublishedWeek kWeeks[] = {{"fifo strict count", "fifo:queue=strict,fit=count"},
                                    {"fifo skip count", "fifo:queue=skip,fit=count"},
                                    {"sjf strict count", "sjf:queue=strict,fit=count"},
                                    {"sjf skip count", "sjf:queue=skip,fit=count"},
                                    {"fifo strict node", "fifo:queue=strict,fit=server"},
                                    {"fifo skip node", "fifo:queue=skip,fit=server"},
                                    {"sjf strict node", "sjf:queue=strict,fit=server"},
                                    {"sjf skip node", "sjf:queue=skip,fit=server"}};

Result<ReproductionReport> run(const std::filesystem::path& data,
                               const ReproductionProgress& progress) {
  const auto expected = published_json(data, kExpected);
  if (!expected) return expected.error();
  const auto file = published_file(data, kTrace);
  if (!file) return file.error();
  const auto trace = read_trace(file.value(), {});
  if (!trace) return trace.error();
  const Topology topology = generate_leaf_spine({.servers = 48}).value();
  const PolicyRegistry registry = make_policy_registry();
  ReproductionReport report;
  std::uint64_t runs = 0;
  for (const PublishedWeek& week : kWeeks) {
    const auto row = published_row(expected.value(), "philly_week", week.theirs, 3);
    if (!row) return Error{Errc::invalid, (data / kExpected).string() + row.error().message};
    const std::uint64_t jobs = trace.value().jobs.size(), before = runs++ * jobs;
    SimOptions options;
    options.policy = week.policy;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      progress(before + jobs * done / std::max<std::uint64_t>(total, 1), jobs * std::size(kWeeks),
               week.policy);
    };
    const auto result = simulate(topology, trace.value(), registry, options);
    if (!result) return result.error();
    const RunFigures ours = figures(result.value());
    const std::vector<double>& theirs = row.value();
    const std::string name = week.policy;
    report.figures.push_back({name + ": mean JCT", "s", theirs[0], ours.avg_jct_s, 0.0, 5});
    report.figures.push_back({name + ": mean wait", "s", theirs[1], ours.avg_queue_s, 0.0, 5});
    report.figures.push_back({name + ": makespan", "s", theirs[2], ours.makespan_s, 0.0, 0});
  }
  return report;
}

}  // namespace

Reproduction philly_week() {
  return {"philly-week", "FIFO and SJF on a week of Philly, 48 servers of 8 GPUs",
          "plain list schedulers, written from their rules in words on Microsoft's Philly trace",
          "conformance/expected.json, conformance/philly_week.csv.gz", run};
}

}  // namespace starling
