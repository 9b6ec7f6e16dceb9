// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/emulated_launcher.h"

#include "interference/models.h"
#include "launch/launchers/launcher_battery.h"
#include "topology/generate/generate.h"

using namespace starling;
using namespace std::chrono_literals;

namespace {

class HandClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return now_; }
  void set(Instant now) { now_ = std::max(now_, now); }
  void pass(Duration d) { now_ += d; }

 private:
  Instant now_;
};

/// Half speed beside any job; three seconds to start.
class TestPhysics final : public Physics {
 public:
  [[nodiscard]] double rate(const JobProfile&, const Placement&,
                            const Neighbours& beside) const override {
    return beside.empty() ? 1.0 : 0.5;
  }
  /// Every further gradient is worth as much again.
  [[nodiscard]] double pace(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside, const Allocation& how) const override {
    return rate(job, placement, beside) * (1 + how.accumulation);
  }
  [[nodiscard]] bool varies() const noexcept override { return true; }
  [[nodiscard]] double startup_s(const JobProfile&) const override { return 3; }
};

Topology two_servers() {
  GeneratorOptions options;
  options.servers = 2;
  options.gpus_per_server = 4;
  return generate_flat(options).value();
}

LaunchSpec spec(std::uint64_t job, std::uint32_t server, Duration duration) {
  LaunchSpec s;
  s.attempt = {{0, job}, Epoch{1}, 1};
  s.server = ServerId{server};
  s.gpus = {GpuId{server * 4}};
  s.gang = {{PartitionId{0}, s.gpus}};
  s.spec.id = s.attempt.job;
  s.spec.duration = duration;
  return s;
}

struct Rig {
  Topology topology = two_servers();
  TestPhysics physics;
  HandClock clock;
  EmulatedLauncher launcher{topology, physics, clock, 10};
};

}  // namespace

TEST_CASE("the emulated launcher passes the battery") {
  Rig rig;
  launcher_battery(
      {rig.launcher, [](auto job, auto server) { return spec(job, server, 20s); },
       [](auto job, auto server) { return spec(job, server, 100'000h); },
       [&] { rig.clock.set(std::min(rig.launcher.next_deadline(), rig.clock.now() + 1s)); },
       [&] { return rig.clock.now(); }});
}

TEST_CASE("a job gets on as its allocation says, as in the simulated world") {
  Rig rig;
  LaunchSpec job = spec(1, 0, 100s);
  job.allocation = {1, 0, 0, 3, false};
  CHECK(rig.launcher.start(job).ok());
  CHECK(rig.launcher.next_deadline() == Instant(300ms + 2500ms));
  rig.clock.pass(1300ms);  // 40 s of work are done
  CHECK(rig.launcher.measure().front().rate == 4);
  LaunchSpec other = spec(2, 0, 100s);
  other.gpus = {GpuId{1}};
  other.gang = {{PartitionId{0}, other.gpus}};
  CHECK(rig.launcher.start(other).ok());
  CHECK(rig.launcher.measure().front().rate == 2);
  CHECK(rig.launcher.next_deadline() == Instant(1300ms + 3000ms));
}

TEST_CASE(
    "a job alone takes start-up and duration, divided by the speedup; what was served is not "
    "served again") {
  Rig rig;
  LaunchSpec job = spec(1, 0, 100s);
  job.served = 30s;
  CHECK(rig.launcher.start(job).ok());
  CHECK(rig.launcher.next_deadline() == Instant(7300ms));
  rig.clock.pass(7299ms);
  CHECK(rig.launcher.reap().empty());
  rig.clock.pass(1ms);
  const auto ended = rig.launcher.reap();
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].served == 70s);
}

TEST_CASE(
    "a job's own restore and save times are what its starts take, as in the simulated world") {
  Rig rig;
  LaunchSpec job = spec(1, 0, 100s);
  job.spec.run.restore = 40s, job.spec.run.save = 10s;
  CHECK(rig.launcher.start(job).ok());
  CHECK(rig.launcher.next_deadline() == Instant(4s + 10s));  // ten times as fast
  rig.launcher.stop(job.attempt, 10s);
  (void)rig.launcher.reap();
  job.attempt.number = 2;
  job.served = 30s;
  CHECK(rig.launcher.start(job).ok());
  CHECK(rig.launcher.next_deadline() == Instant(5s + 7s));
}

TEST_CASE("neighbours slow each other down while both are there") {
  Rig rig;
  CHECK(rig.launcher.start(spec(1, 0, 97s)).ok());
  rig.clock.pass(5300ms);  // 50 s of service done
  CHECK(rig.launcher.start(spec(2, 0, 1000s)).ok());
  CHECK(rig.launcher.start(spec(3, 1, 1000s)).ok());
  CHECK(rig.launcher.next_deadline() == Instant(14700ms));
  rig.clock.pass(2s);  // 10 s more
  CHECK(rig.launcher.measure()[0].served == 60s);
  CHECK(rig.launcher.measure()[0].rate == 0.5);
  CHECK(rig.launcher.measure()[2].rate == 1.0);
  rig.launcher.stop(spec(2, 0, 1s).attempt, 10s);
  CHECK(rig.launcher.reap().at(0).exit.code == -15);
  CHECK(rig.launcher.next_deadline() == Instant(11s));
}

TEST_CASE("a job with fewer or more GPUs than it asks for goes as much slower or faster") {
  Rig rig;
  const auto on = [&](const Physics& physics, std::uint32_t gpus) {
    EmulatedLauncher launcher(rig.topology, physics, rig.clock);
    LaunchSpec job = spec(1, 0, 120s);
    job.spec.workers = 2;
    job.spec.min_workers = 1, job.spec.max_workers = 4;
    for (std::uint32_t gpu = 1; gpu < gpus; ++gpu) job.gpus.push_back(GpuId{gpu});
    job.gang.front().gpus = job.gpus;
    REQUIRE(launcher.start(job).ok());
    return launcher.next_deadline() - rig.clock.now();
  };
  CHECK(on(rig.physics, 1) == 243s);
  CHECK(on(rig.physics, 2) == 123s);
  CHECK(on(rig.physics, 4) == 63s);
  const auto trace = make_trace_physics();  // which does not vary, and scales all the same
  CHECK(on(*trace, 1) == 240s);
  CHECK(on(*trace, 4) == 60s);
}

TEST_CASE("a job of unknown length cannot be emulated") {
  Rig rig;
  CHECK(rig.launcher.start(spec(1, 0, 0s)).error().code == Errc::invalid);
  CHECK(rig.launcher.next_deadline() == kNever);
}

TEST_CASE("what passed its deadline unseen ended then, unless it was done before") {
  Rig rig;
  LaunchSpec done_before = spec(1, 0, 20s);
  LaunchSpec left = spec(2, 1, 1000s);
  done_before.until = left.until = rig.clock.now() + 10s;
  REQUIRE(rig.launcher.start(done_before).ok());
  REQUIRE(rig.launcher.start(left).ok());
  rig.clock.pass(1h);
  const auto ended = rig.launcher.reap();
  REQUIRE(ended.size() == 2);
  CHECK(ended[0].exit == ExitStatus{});
  CHECK(ended[1].exit.lost);
  CHECK(ended[1].served == 97s);  // ten seconds of ten each, three of them to start
}
