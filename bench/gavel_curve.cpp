// SPDX-License-Identifier: Apache-2.0
// Gavel's main figures (OSDI'20): mean JCT against the rate at which jobs arrive,
// for policies that know how fast each job is on each GPU type and for their agnostic forms, on 36
// V100, 36 P100 and 36 K80. Speeds are those that Gavel measured, nothing else slows a job, and
// stopping costs nothing: the setting of Gavel's own simulator.
//
//   gavel_curve OBJECTIVE single|multi FIRST LAST SEEDS RATE...
//
// prints for every rate (jobs per hour) the mean JCT in hours of jobs FIRST to LAST, agnostic and
// aware, mean over the seeds 1 to SEEDS, and how many times the one is the other: over all, and the
// smallest and largest of one seed.
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "interference/measured_physics.h"
#include "interference/models.h"
#include "policies/gavel/gavel.h"
#include "policies/testing/test_world.h"
#include "topology/generate/generate.h"
#include "workload/generate/generate_gavel.h"

namespace starling {
namespace {

struct Point {
  GavelObjective objective;
  bool multi;
  std::size_t first, last;
  double rate;
};

/// Mean JCT in hours of the window.
double run(const Point& point, bool aware, std::uint64_t seed) {
  GeneratorOptions cluster;
  cluster.groups = {{36, "V100"}, {36, "P100"}, {36, "K80"}};
  cluster.gpus_per_server = 1;
  const Topology topology = generate_flat(cluster).value();
  const auto physics = make_measured_physics(topology);
  const auto speed = make_true_speed(*physics);
  // Others arrive until nearly all of the window have finished: the cluster must not drain before.
  const auto jobs = static_cast<std::uint32_t>(point.last + 3 * (point.last - point.first));
  Trace trace = generate_gavel_trace({jobs, point.rate, point.multi, seed}).value();
  run_as_measured(trace, topology);
  TestWorld::Options options;
  options.seed = seed;
  options.model = speed.get();
  options.make = [&] {
    GavelOptions gavel;
    gavel.objective = point.objective;
    gavel.aware = aware;
    return std::make_unique<GavelPolicy>(gavel);
  };
  const PolicyRegistry registry;
  TestWorld world(topology, registry, "", options);
  world.run(trace);
  double sum = 0;
  for (std::size_t i = point.first; i < point.last; ++i)
    sum += seconds(world.jobs[i].finished - world.jobs[i].submitted) / 3600;
  return sum / static_cast<double>(point.last - point.first);
}

int curve(const std::vector<std::string>& args) {
  const std::vector<std::pair<std::string, GavelObjective>> known = {
      {"max-min-fairness", GavelObjective::max_min_fairness},
      {"fifo", GavelObjective::fifo},
      {"finish-time-fairness", GavelObjective::finish_time_fairness}};
  const auto objective = std::find_if(known.begin(), known.end(), [&](const auto& k) {
    return !args.empty() && k.first == args[0];
  });
  if (args.size() < 6 || objective == known.end()) {
    std::fprintf(stderr,
                 "usage: gavel_curve max-min-fairness|fifo|finish-time-fairness single|multi "
                 "FIRST LAST SEEDS RATE...\n");
    return 2;
  }
  const auto seeds = std::stoull(args[4]);
  std::printf(
      "| jobs/h | agnostic (h) | aware (h) | agnostic / aware | of one seed |\n"
      "| ---: | ---: | ---: | ---: | ---: |\n");
  for (std::size_t i = 5; i < args.size(); ++i) {
    const Point point{objective->second, args[1] == "multi", std::stoull(args[2]),
                      std::stoull(args[3]), std::stod(args[i])};
    std::vector<double> agnostic(seeds);
    std::vector<double> aware(seeds);
    std::thread other([&] {
      for (std::size_t s = 0; s < seeds; ++s) agnostic[s] = run(point, false, s + 1);
    });
    for (std::size_t s = 0; s < seeds; ++s) aware[s] = run(point, true, s + 1);
    other.join();
    double a = 0, b = 0, low = 1e9, high = 0;
    for (std::size_t s = 0; s < seeds; ++s) {
      a += agnostic[s] / static_cast<double>(seeds);
      b += aware[s] / static_cast<double>(seeds);
      low = std::min(low, agnostic[s] / aware[s]);
      high = std::max(high, agnostic[s] / aware[s]);
    }
    std::printf("| %s | %.1f | %.1f | %.2f | %.2f to %.2f |\n", args[i].c_str(), a, b, a / b, low,
                high);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace starling

int main(int argc, char** argv) {
  return starling::curve(std::vector<std::string>(argv + 1, argv + argc));
}
