// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "interference/models.h"
#include "sim/world/hardware.h"
#include "topology/generate/generate.h"

namespace starling {

/// Half speed for a gang over two servers, and half again per neighbour.
class HalvingPhysics final : public Physics {
 public:
  explicit HalvingPhysics(const Topology& topology) : topology_(topology) {}
  double rate(const JobProfile&, const Placement& gpus, const Neighbours& beside) const override {
    double rate = topology_.tier_of(gpus) > Tier::server ? 0.5 : 1;
    for (std::size_t i = 0; i < beside.size(); ++i) rate /= 2;
    return rate;
  }
  /// Every further gradient is worth as much again.
  double pace(const JobProfile& job, const Placement& gpus, const Neighbours& beside,
              const Allocation& how) const override {
    return rate(job, gpus, beside) * (1 + how.accumulation);
  }
  bool varies() const noexcept override { return true; }
  double startup_s(const JobProfile&) const override { return startup; }
  double startup = 0;

 private:
  const Topology& topology_;
};

/// Two servers of four GPUs, each with an executor of its own, and two jobs of two GPUs and 100 s.
struct HardwareBench {
  Topology topology = generate_flat({.servers = 2, .gpus_per_server = 4}).value();
  EventQueue queue;
  SimClock clock;
  std::unique_ptr<Physics> physics;
  std::unique_ptr<Hardware> hardware;

  explicit HardwareBench(bool varies, double startup = 0, std::uint32_t jobs_per_gpu = 1) {
    if (varies) {
      auto halving = std::make_unique<HalvingPhysics>(topology);
      halving->startup = startup;
      physics = std::move(halving);
    } else {
      physics = make_trace_physics();
    }
    std::vector<JobTruth> jobs(2);
    jobs[0].id = {0, 1};
    jobs[0].duration = std::chrono::seconds(100);
    jobs[0].gpus = 2;
    jobs[1].id = {0, 2};
    jobs[1].duration = std::chrono::seconds(100);
    jobs[1].gpus = 2;
    hardware = std::make_unique<Hardware>(topology, *physics, queue, clock, 2, jobs, jobs_per_gpu);
  }

  static AttemptId attempt(std::uint64_t job, std::uint64_t number = 1) {
    return {{0, job}, Epoch{1}, number};
  }
  static Placement gpus(std::uint32_t first, std::uint32_t count) {
    Placement p;
    for (std::uint32_t i = 0; i < count; ++i) p.push_back(GpuId{first + i});
    return p;
  }
  /// Starts the part on `server`, which is executor `server` too.
  Status start(std::uint32_t server, AttemptId a, Placement here, Placement all,
               Duration served = {}, Instant until = kNever) {
    LaunchSpec spec;
    spec.attempt = a;
    spec.server = ServerId{server};
    spec.gpus = std::move(here);
    spec.gang = {{PartitionId{0}, std::move(all)}};
    spec.served = served;
    spec.until = until;
    spec.spec.workers = 2;
    return hardware->start(server, spec);
  }
  void run_one() {
    const SimEvent e = queue.pop();
    clock.set(e.at);
    if (e.kind() == EventKind::gang_end) (void)hardware->end(e.target, e.token);
    if (e.kind() == EventKind::lapse) hardware->lapse(e.target);
    if (e.kind() == EventKind::process) (void)hardware->advance(e.target);
  }
  void run_until(Instant limit) {
    while (!queue.empty() && queue.top().at <= limit) run_one();
    clock.set(limit);
  }
};

inline constexpr Instant at(Duration d) { return Instant(d); }

}  // namespace starling
