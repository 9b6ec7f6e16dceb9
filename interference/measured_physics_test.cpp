// SPDX-License-Identifier: Apache-2.0
// Published throughputs as they are: nothing is fitted, nothing else slows a job.
#include "interference/measured_physics.h"

#include <doctest/doctest.h>

#include "topology/generate/generate.h"

using namespace starling;

namespace {

Topology four_types() {
  GeneratorOptions options;
  options.groups = {{1, "V100"}, {1, "P100"}, {1, "K80"}, {1, "A100"}};
  options.gpus_per_server = 2;
  return generate_flat(options).value();
}

}  // namespace

TEST_CASE("Gavel's job types run as fast as they were measured") {
  const Topology topology = four_types();
  const auto physics = make_measured_physics(topology);
  const auto on = [&](const char* model, std::initializer_list<std::uint32_t> gpus) {
    JobProfile job;
    job.model = model;
    job.gpus = static_cast<std::uint32_t>(gpus.size());
    Placement placement;
    for (const std::uint32_t gpu : gpus) placement.push_back(GpuId{gpu});
    return physics->rate(job, placement, {});
  };
  CHECK(on("LM (batch size 40)", {0}) == 1);
  CHECK(on("LM (batch size 40)", {2}) == doctest::Approx(35.7664 / 45.2374));
  CHECK(on("LM (batch size 40)", {0, 1}) == 1);
  CHECK(on("LM (batch size 40)", {0, 4}) == doctest::Approx(16.0697 / 91.5927));  // the slowest
  // Recommendation is fastest on a P100.
  CHECK(on("Recommendation (batch size 512)", {2}) == 1);
  CHECK(on("Recommendation (batch size 512)", {0}) == doctest::Approx(23.3176 / 48.8824));
  // A100s were not measured, nor any other model.
  CHECK(on("LM (batch size 40)", {6}) == on("LM (batch size 40)", {4}));
  CHECK(on("my-net", {4}) == 1);
  CHECK(physics->varies());
  CHECK(physics->startup_s({}) == 0);
}

TEST_CASE("durations on V100s become those on the fastest type, where jobs fit") {
  Trace trace;
  for (const char* model :
       {"Recommendation (batch size 512)", "ResNet-50 (batch size 128)", "my-net"}) {
    TraceJob job;
    job.spec.model = model;
    job.spec.workers = trace.jobs.size() == 1 ? 2 : 1;  // two K80s cannot hold that one
    job.spec.duration = from_seconds(1000);
    trace.jobs.push_back(job);
  }
  run_as_measured(trace, four_types());
  CHECK(seconds(trace.jobs[0].spec.duration) == doctest::Approx(1000 * 23.3176 / 48.8824));
  CHECK(trace.jobs[0].spec.gpu_types == std::vector<std::string>{"V100", "P100", "K80"});
  CHECK(seconds(trace.jobs[1].spec.duration) == doctest::Approx(1000));
  CHECK(trace.jobs[1].spec.gpu_types == std::vector<std::string>{"V100", "P100"});
  CHECK(seconds(trace.jobs[2].spec.duration) == 1000);
  CHECK(trace.jobs[2].spec.gpu_types.empty());
}
