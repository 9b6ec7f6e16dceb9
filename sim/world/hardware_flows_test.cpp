// SPDX-License-Identifier: Apache-2.0
// Gangs that meet on links alone: who is rated anew when one comes, goes, or the network changes.
#include <doctest/doctest.h>

#include "interference/flows/coupled_gangs.h"
#include "sim/world/hardware.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Two racks of four servers of one GPU, one uplink each.
Topology racks(double uplink_gbps) {
  GeneratorOptions options;
  options.servers = 8;
  options.servers_per_rack = 4;
  options.gpus_per_server = 1;
  options.spines = 1;
  options.nic_gbps = 10;
  options.uplink_gbps = uplink_gbps;
  return generate_leaf_spine(options).value();
}

struct Bench {
  Topology topology = racks(10);
  EventQueue queue;
  SimClock clock;
  std::unique_ptr<CoupledPhysics> physics = make_flow_physics(topology);
  std::unique_ptr<Hardware> hardware;

  Bench() {
    std::vector<JobTruth> jobs(4);
    for (std::uint64_t i = 0; i < jobs.size(); ++i) {
      jobs[i].id = {0, i};
      jobs[i].duration = 1000s;
      jobs[i].gpus = 2;
    }
    hardware = std::make_unique<Hardware>(topology, *physics, queue, clock, 1, jobs);
  }
  static AttemptId attempt(std::uint64_t job) { return {{0, job}, Epoch{1}, 1}; }
  void start(std::uint64_t job, std::uint32_t a, std::uint32_t b) {
    LaunchSpec spec;
    spec.attempt = attempt(job);
    spec.gang = {{PartitionId{0}, {GpuId{a}, GpuId{b}}}};
    spec.spec.workers = 2;
    spec.spec.model = "vgg16";
    for (const std::uint32_t gpu : {a, b}) {
      spec.server = ServerId{gpu};
      spec.gpus = {GpuId{gpu}};
      REQUIRE(hardware->start(0, spec).ok());
    }
  }
  /// Of what runs, by job; after all have started up.
  std::map<std::uint64_t, double> rates() {
    clock.set(clock.now() + 60s);
    std::map<std::uint64_t, double> found;
    for (const Progress& progress : hardware->measure(0))
      found[progress.attempt.job.lo] = progress.rate;
    return found;
  }
};

}  // namespace

TEST_CASE("a gang is rated anew by a gang that shares a link with it, and no server") {
  Bench b;
  b.start(0, 0, 4);
  const double alone = b.rates()[0];
  b.start(1, 1, 2);  // within the first rack
  CHECK(b.rates()[0] == alone);
  b.start(2, 3, 5);
  CHECK(b.rates()[0] < 0.8 * alone);
  CHECK(b.rates()[2] == b.rates()[0]);
  b.hardware->stop(0, Bench::attempt(2));
  CHECK(b.rates()[0] == alone);
}

TEST_CASE("gangs that run go on over other links when the network changes") {
  Bench b;
  b.start(0, 0, 4);
  const double alone = b.rates()[0];
  b.start(1, 1, 5);
  CHECK(b.rates()[0] < 0.8 * alone);
  const Topology after = racks(20);
  const auto numbers = renumbering(b.topology, after);
  REQUIRE(numbers.ok());
  b.topology = after;
  const auto physics = make_flow_physics(b.topology);
  CHECK(b.hardware->change(*physics, numbers.value()).empty());
  CHECK(b.rates()[0] == doctest::Approx(alone).epsilon(0.001));
  CHECK(b.rates()[1] == b.rates()[0]);
  b.hardware->stop(0, Bench::attempt(0));
  b.hardware->stop(0, Bench::attempt(1));
  CHECK(b.rates().empty());
}

}  // namespace starling
