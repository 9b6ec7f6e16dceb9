// SPDX-License-Identifier: Apache-2.0
#include "policies/themis/themis.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "policies/elastic/elastic_jobs_test.h"
#include "policies/testing/test_world.h"

namespace starling {
namespace {

constexpr double kGpus = 16;

/// Gangs of up to 8 GPUs, most of them short, that ask for more GPUs than there are.
Trace crowd(std::uint64_t seed) {
  Rng rng(seed);
  Trace trace;
  double submit = 0;
  for (std::uint64_t i = 1; i <= 50; ++i) {
    submit += rng.below(600);
    const double length = rng.chance(0.2) ? 7200 + rng.below(14'400) : 600 + rng.below(1800);
    trace.jobs.push_back(elastic(i, submit, 1, length));
    trace.jobs.back().spec.workers = 1U << rng.below(4);
    trace.jobs.back().spec.min_workers = trace.jobs.back().spec.max_workers = 0;
  }
  return trace;
}

/// The worst of a job's time over that on its part of the GPUs, by the mean number of jobs in its
/// life.
double worst_ratio(const TestWorld& world) {
  double worst = 0;
  for (const auto& one : world.jobs) {
    const double life_s = seconds(one.finished - one.submitted);
    double present_s = 0;
    for (const auto& other : world.jobs) {
      const Instant from = std::max(one.submitted, other.submitted);
      const Instant to = std::min(one.finished, other.finished);
      if (from < to) present_s += seconds(to - from);
    }
    const double part = kGpus / (present_s / life_s);
    const double alone_s = seconds(one.spec.duration) * std::max(1.0, one.spec.gpus() / part);
    worst = std::max(worst, life_s / alone_s);
  }
  return worst;
}

TEST_CASE("the worst ratio of times is below that of other orders") {
  const Topology topology = servers(2);
  const PolicyRegistry registry = make_policy_registry();
  double themis = 0, fifo = 0, las = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Trace trace = crowd(seed);
    const auto run = [&](const char* policy) {
      TestWorld world(topology, registry, policy, {});
      world.run(trace);
      CHECK(world.faults.empty());
      return worst_ratio(world);
    };
    themis += run("themis");
    fifo += run("fifo");
    las += run("tiresias-las");
  }
  MESSAGE("worst ratio of times, sums of five: themis " << themis << ", fifo " << fifo
                                                        << ", tiresias-las " << las);
  CHECK(themis < fifo);
  CHECK(themis < las);
}

TEST_CASE("themis says its name, and wants to know how long jobs take") {
  const PolicyFacts facts = GavelPolicy(themis_options()).facts();
  CHECK(facts.name == "themis");
  CHECK(facts.lengths == LengthSource::estimates);
  CHECK(GavelPolicy({}).facts().name == "gavel");
}

}  // namespace
}  // namespace starling
