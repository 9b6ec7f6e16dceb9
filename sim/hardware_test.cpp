#include "sim/hardware.h"

#include <doctest/doctest.h>

#include "interference/models.h"
#include "topology/generate.h"

// The hardware decides when a job ends. Each test states a way in which a duration, a share of the
// service or a GPU could get lost.

namespace starling {
namespace {

using namespace std::chrono_literals;

/// Half speed for a gang over two servers, and half again per neighbour.
class HalvingPhysics final : public Physics {
 public:
  explicit HalvingPhysics(const Topology& topology) : topology_(topology) {}
  double rate(const JobProfile&, const Placement& gpus, const Neighbours& beside) const override {
    double rate = topology_.tier_of(gpus) > Tier::server ? 0.5 : 1;
    for (std::size_t i = 0; i < beside.size(); ++i) rate /= 2;
    return rate;
  }
  bool varies() const noexcept override { return true; }
  double startup_s(const JobProfile&) const override { return startup; }
  double startup = 0;

 private:
  const Topology& topology_;
};

struct Bench {
  Topology topology = generate_flat({.servers = 2, .gpus_per_server = 4}).value();
  EventQueue queue;
  SimClock clock;
  std::unique_ptr<Physics> physics;
  std::unique_ptr<Hardware> hardware;

  explicit Bench(bool varies, double startup = 0, std::uint32_t jobs_per_gpu = 1) {
    if (varies) {
      auto halving = std::make_unique<HalvingPhysics>(topology);
      halving->startup = startup;
      physics = std::move(halving);
    } else {
      physics = make_trace_physics();
    }
    std::vector<JobTruth> jobs(2);
    jobs[0].id = {0, 1};
    jobs[0].duration = 100s;
    jobs[0].gpus = 2;
    jobs[1].id = {0, 2};
    jobs[1].duration = 100s;
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
               Duration served = {}) {
    LaunchSpec spec;
    spec.attempt = a;
    spec.server = ServerId{server};
    spec.gpus = std::move(here);
    spec.gang = {{PartitionId{0}, std::move(all)}};
    spec.served = served;
    spec.spec.workers = 2;
    return hardware->start(server, spec);
  }
  void run_until(Instant limit) {
    while (!queue.empty() && queue.top().at <= limit) {
      const SimEvent e = queue.pop();
      clock.set(e.at);
      if (e.kind() == EventKind::gang_end) (void)hardware->end(e.target, e.token);
    }
    clock.set(limit);
  }
};

constexpr Instant at(Duration d) { return Instant(d); }

TEST_CASE(
    "a gang on two executors moves when it is whole and ends on both at once, to the nanosecond") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(3, 1), Bench::gpus(3, 2)).ok());
  b.run_until(at(7s));
  REQUIRE(b.start(1, Bench::attempt(1), Bench::gpus(4, 1), Bench::gpus(3, 2)).ok());
  CHECK(b.hardware->moving_gangs() == 1);
  CHECK(b.hardware->busy_gpus() == 2);
  b.run_until(at(107s) - 1ns);
  CHECK(b.hardware->reap(0).empty());
  b.run_until(at(107s));
  for (const std::uint32_t executor : {0U, 1U}) {
    const std::vector<Exit> ended = b.hardware->reap(executor);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].exit.code == 0);
    CHECK(ended[0].served == 100s);
  }
  CHECK(b.hardware->busy_gpus() == 0);
  CHECK(b.hardware->jobs()[0].completed == at(107s));
}

TEST_CASE("stopping keeps what was served, and the next attempt goes on there") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  b.run_until(at(30s));
  b.hardware->stop(0, Bench::attempt(1));
  b.hardware->stop(0, Bench::attempt(1));  // a repeat changes nothing
  const std::vector<Exit> ended = b.hardware->reap(0);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].exit.code != 0);
  CHECK(ended[0].served == 30s);
  REQUIRE(b.start(0, Bench::attempt(1, 2), Bench::gpus(0, 2), Bench::gpus(0, 2), 30s).ok());
  b.run_until(at(100s) - 1ns);
  CHECK(b.hardware->reap(0).empty());
  b.run_until(at(100s));
  CHECK(b.hardware->reap(0).size() == 1);
  CHECK(b.hardware->jobs()[0].service == 100s);
  CHECK(b.hardware->jobs()[0].attempts == 2);
}

TEST_CASE("a gang that lost a process stands still") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(3, 1), Bench::gpus(3, 2)).ok());
  REQUIRE(b.start(1, Bench::attempt(1), Bench::gpus(4, 1), Bench::gpus(3, 2)).ok());
  b.run_until(at(10s));
  b.hardware->stop(0, Bench::attempt(1));
  b.run_until(at(500s));
  CHECK(b.hardware->reap(1).empty());
  b.hardware->stop(1, Bench::attempt(1));
  const std::vector<Exit> ended = b.hardware->reap(1);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].served == 10s);
  CHECK(b.hardware->processes().empty());
}

TEST_CASE("a GPU in use refuses a second process, and that is remembered") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  CHECK(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());  // a repeat
  CHECK(b.hardware->overlap().empty());
  CHECK_FALSE(b.start(0, Bench::attempt(2), Bench::gpus(1, 2), Bench::gpus(1, 2)).ok());
  CHECK_FALSE(b.hardware->overlap().empty());
  CHECK(b.hardware->processes().size() == 1);
}

TEST_CASE(
    "two jobs share a GPU where they may: it is busy once, both slow down, a third is refused") {
  Bench b(true, 0, 2);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  REQUIRE(b.start(0, Bench::attempt(2), Bench::gpus(1, 2), Bench::gpus(1, 2)).ok());
  CHECK(b.hardware->busy_gpus() == 3);
  CHECK(b.hardware->overlap().empty());
  CHECK_FALSE(b.start(0, Bench::attempt(2, 2), Bench::gpus(1, 1), Bench::gpus(1, 1)).ok());
  CHECK_FALSE(b.hardware->overlap().empty());
  b.run_until(at(200s) - 1us);
  CHECK(b.hardware->moving_gangs() == 2);
  b.run_until(at(200s) + 1us);
  CHECK(b.hardware->busy_gpus() == 0);
}

TEST_CASE("a new executor life hears of what its hardware did not keep, and of nothing else") {
  Bench b(false);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  LaunchSpec kept, lost;
  kept.attempt = Bench::attempt(1);
  lost.attempt = Bench::attempt(2);
  b.hardware->adopt(0, std::vector<LaunchSpec>{kept, lost});
  const std::vector<Exit> ended = b.hardware->reap(0);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].attempt == Bench::attempt(2));
  CHECK(ended[0].exit.lost);
}

TEST_CASE("where physics varies, a neighbour slows a gang for as long as it is there") {
  Bench b(true);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(0, 2), Bench::gpus(0, 2)).ok());
  b.run_until(at(20s));  // 20 s of service
  REQUIRE(b.start(0, Bench::attempt(2), Bench::gpus(2, 2), Bench::gpus(2, 2)).ok());
  b.run_until(at(60s));  // 20 s more each, at half speed
  b.hardware->stop(0, Bench::attempt(2));
  CHECK(b.hardware->jobs()[1].service == 20s);
  REQUIRE(b.hardware->measure(0).size() == 1);
  CHECK(b.hardware->measure(0)[0].served == 40s);
  CHECK(b.hardware->measure(0)[0].rate == 1);
  b.run_until(at(120s) - 1us);
  CHECK(b.hardware->reap(0).size() == 1);  // the stopped one
  b.run_until(at(120s) + 1us);             // 60 s were left
  CHECK(b.hardware->reap(0).size() == 1);
}

TEST_CASE("a spread gang is slower, and nothing moves before its start is over") {
  Bench b(true, 5);
  REQUIRE(b.start(0, Bench::attempt(1), Bench::gpus(3, 1), Bench::gpus(3, 2)).ok());
  REQUIRE(b.start(1, Bench::attempt(1), Bench::gpus(4, 1), Bench::gpus(3, 2)).ok());
  CHECK(b.hardware->left(JobId{0, 1}).work == 100s);
  CHECK(b.hardware->left(JobId{0, 1}).from == at(5s));
  b.run_until(at(105s));  // half as fast
  CHECK(b.hardware->left(JobId{0, 1}).work == 50s);
  CHECK(b.hardware->left(JobId{0, 1}).from == at(105s));
  CHECK(b.hardware->left(JobId{0, 2}).work == 100s);
  b.run_until(at(205s) - 1us);
  CHECK(b.hardware->moving_gangs() == 1);
  b.run_until(at(205s) + 1us);
  CHECK(b.hardware->moving_gangs() == 0);
}

}  // namespace
}  // namespace starling
