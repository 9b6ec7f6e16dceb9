// SPDX-License-Identifier: Apache-2.0
// A gang that is resized over partitions again and again, whatever dies when: its job is nowhere
// twice, never in part, and ends.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Every five seconds each job that runs gets the size that follows on its own, as many of its GPUs
/// here as there are; who waits gets the largest. Remembers nothing, as its next life.
class Breathing final : public Policy {
 public:
  [[nodiscard]] const PolicyFacts& facts() const noexcept override {
    static const PolicyFacts kFacts{.name = "breathing",
                                    .summary = "resizes",
                                    .family = Family::elastic,
                                    .preemptive = true,
                                    .elastic = true,
                                    .round = 5s};
    return kFacts;
  }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng&) override {
    std::vector<Decision> out;
    for (const JobView& job : view.waiting) {
      if (!job.blocked)
        out.emplace_back(Spread{job.spec->id, here(view, {}, 12), {}, false, {.workers = 12}});
    }
    if (trigger.kind != TriggerKind::round) return out;
    for (const JobView& job : view.running) {
      if (job.blocked) continue;
      static constexpr std::array kNext{12, 8, 3, 10};  // over three, two, one partition, three
      const auto at = std::ranges::find(kNext, static_cast<int>(job.placement.size()));
      const auto next = static_cast<std::uint32_t>(
          at == kNext.end() || at + 1 == kNext.end() ? kNext.front() : *(at + 1));
      out.emplace_back(Resize{job.spec->id, here(view, job.placement, next), {.workers = next}});
    }
    return out;
  }

 private:
  static Placement here(const View& view, const Placement& own, std::uint32_t most) {
    Placement gpus;
    for (std::uint32_t g = view.gpus.gpus().first; g < view.gpus.gpus().last; ++g) {
      const bool has = std::ranges::binary_search(own, GpuId{g});
      if (gpus.size() < most && (has || view.gpus.is_free(GpuId{g}))) gpus.emplace_back(g);
    }
    return gpus;
  }
};

FlockOptions breathing(std::uint64_t seed, bool lossy) {
  FlockOptions options{.agents = 3, .servers = 3, .seed = seed, .delay = 1ms, .jitter = 1ms};
  options.lossy = lossy;
  options.make_policy = [] { return std::make_unique<Breathing>(); };
  return options;
}

JobSpec elastic(std::uint64_t n) {
  JobSpec spec;
  spec.id = JobId{0, n};
  spec.workers = 6;
  spec.min_workers = 1;
  spec.max_workers = 12;
  spec.duration = 26s;
  return spec;
}

TEST_CASE("a gang breathes over partitions, and has done as much as it was asked to") {
  TestFlock flock(breathing(1, false));
  flock.submit(elastic(1), 0);
  CHECK(flock.settle(10min));
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.faults().empty());
  CHECK(flock.agent(0).counters.resizes >= 4);
  CHECK(flock.agent(0).counters.cross_partition_gangs >= 4);
  CHECK(flock.agent(0).counters.wrong_decisions == 0);
  CHECK(flock.agent(0).home.remembered.ended.at(JobId{0, 1}).served == 26s);
}

/// False: nothing crashed.
bool survives(std::uint32_t agent, std::uint64_t step, bool before_sending) {
  TestFlock flock(breathing(step, true));
  flock.run_for(1s);
  flock.crash_agent_at(agent, step, before_sending);
  flock.submit(elastic(1), 0);
  bool crashed = false;
  for (int i = 0; i < 60; ++i) {
    flock.run_for(500ms);
    if (flock.is_up(agent)) continue;
    crashed = true;
    flock.run_for(1s);
    flock.restart_agent(agent, step % 2 == 0);
  }
  CHECK(flock.settle(1h));
  CHECK(flock.phase(1) == JobPhase::finished);
  CHECK(flock.faults().empty());
  if (!flock.faults().empty()) MESSAGE(flock.faults().front());
  return crashed;
}

TEST_CASE("its home or an owner dies after any step, with or without what the step said") {
  for (const bool before_sending : {false, true}) {
    for (const std::uint32_t agent : {0U, 1U}) {
      std::uint64_t step = 1;
      for (; step < 500; step += 3 * kSparse) {
        CAPTURE(agent);
        CAPTURE(step);
        CAPTURE(before_sending);
        if (!survives(agent, step, before_sending)) break;
      }
      CHECK(step > 60);
    }
  }
}

TEST_CASE("gangs of two homes that breathe into one another all end, whatever gets lost") {
  std::uint64_t resizes = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    FlockOptions options = breathing(seed, true);
    options.jitter = 30ms;
    options.loss = 0.1 * static_cast<double>(seed % 3);
    options.duplication = 0.1;
    TestFlock flock(options);
    flock.submit(elastic(1), 0);
    flock.submit(elastic(2), 1);
    flock.run_for(40s);
    if (seed % 2 == 0) flock.cancel(1);
    flock.run_for(1min);
    flock.heal();
    CHECK(flock.settle(2h));
    CHECK(flock.phase(2) == JobPhase::finished);
    CHECK(flock.faults().empty());
    if (!flock.faults().empty()) MESSAGE(flock.faults().front());
    for (std::uint32_t a = 0; a < 2; ++a) resizes += flock.agent(a).counters.resizes;
  }
  CHECK(resizes > 40);
}

}  // namespace
}  // namespace starling
