// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/machine_report.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>
#include <thread>
#include <utility>

#include "base/test_folder.h"
#include "base/visible.h"
#include "launch/daemon/watched_launcher.h"
#include "launch/deployment/transport.h"
#include "launch/hardware/energy_book.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;
using Kind = HardwareFinding::Kind;

Topology two_servers() {
  GeneratorOptions options;
  options.servers = 2;
  options.gpus_per_server = 2;
  options.gpu_type = "H100";
  return generate_flat(options).value();
}

/// A driver with two GPUs that a test can change.
struct FakeDriver {
  explicit FakeDriver(const std::filesystem::path& dir) : file(dir / "gpus.json") {
    say("");
    ::setenv("FAKE_NVML_FILE", file.c_str(), 1);
  }
  ~FakeDriver() { ::unsetenv("FAKE_NVML_FILE"); }
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  /// `first`: more fields of the first GPU.
  void say(const std::string& first) const {
    const std::string plain = R"("name": "NVIDIA H100 80GB HBM3", "memory_gib": 79.6)";
    std::ofstream(file.string() + ".next")
        << "{\"gpus\": [{" << plain << first << R"(, "uuid": "GPU-0"}, {)" << plain
        << R"(, "uuid": "GPU-1"}]})";
    std::filesystem::rename(file.string() + ".next", file);
  }
  std::filesystem::path file;
};

/// Waits until the watch has seen what the driver says now.
template <class Seen>
void wait_until(const MachineWatch& watch, Seen seen) {
  for (int i = 0; i < 1000 && !seen(watch.word()); ++i) std::this_thread::sleep_for(10ms);
  REQUIRE(seen(watch.word()));
}

LaunchSpec part(std::uint64_t job, std::uint32_t server, Placement gpus) {
  LaunchSpec spec;
  spec.attempt = {JobId{1, job}, Epoch{1}, 1};
  spec.server = ServerId{server};
  spec.gpus = std::move(gpus);
  return spec;
}

HealthOptions quick() {
  HealthOptions options;
  options.gpu_interval = options.interval = 10ms;
  return options;
}

TEST_CASE("a GPU that falls ill is bad under every number that it has") {
  const TestFolder dir("report");
  const FakeDriver driver(dir.path);
  const Topology topology = two_servers();
  const MachineWatch watch(quick(), true, machine_clock(), FAKE_NVML);
  // Both servers are this machine, as in a test.
  MachineReport report(topology, {0, 2}, quick(), {}, &watch);
  wait_until(watch, [](const auto& word) { return word.gpus.size() == 2; });
  CHECK_FALSE(report.look(Instant{}));
  driver.say(R"(, "temperature": 95, "slowdown": 90)");
  wait_until(watch, [](const auto& word) { return !word.gpus.at(0).bad.empty(); });
  CHECK(report.look(Instant{}));
  CHECK(report.sick() == SickGpus{{GpuId{0}, GpuId{2}}, {}});
  REQUIRE(report.findings().size() == 2);
  CHECK(report.findings()[0].text ==
        "GPU 0 of p0-r0-s0 is not used: too hot: 95 C, 90 is the limit");
  CHECK_FALSE(report.look(Instant{}));
  driver.say(R"(, "temperature": 50, "slowdown": 90)");
  wait_until(watch, [](const auto& word) { return word.gpus.at(0).bad.empty(); });
  CHECK(report.look(Instant{}));
  CHECK(report.sick() == SickGpus{});
}

TEST_CASE("a probe that fails takes away the GPUs that have no job, until it succeeds") {
  const TestFolder dir("report");
  std::ofstream(dir.path / "broken") << "disk is full\n";
  HealthOptions options = quick();
  options.command = {"/bin/sh", "-c",
                     "if [ -e " + (dir.path / "broken").string() + " ]; then cat " +
                         (dir.path / "broken").string() + " >&2; exit 3; fi"};
  const Topology topology = two_servers();
  const MachineWatch watch(options, false, machine_clock());
  MachineReport report(topology, {0, 1}, options, {}, &watch);
  report.started(part(7, 0, {GpuId{1}}), Instant{});
  wait_until(watch, [](const auto& word) { return !word.failed.empty(); });
  CHECK(report.look(Instant{}));
  CHECK(report.sick() == SickGpus{{}, {GpuId{0}}});
  REQUIRE(report.findings().size() == 1);
  CHECK(report.findings()[0].text == "p0-r0-s0 is drained: its probe says: disk is full");
  (void)report.ended({part(7, 0, {}).attempt, ServerId{0}, {}, {}});
  CHECK(report.look(Instant{}));
  CHECK(report.sick() == SickGpus{{}, {GpuId{0}, GpuId{1}}});
  // Sent before the owner had heard, and about to be taken back: its GPU is not free again for it.
  report.started(part(8, 0, {GpuId{1}}), Instant{});
  CHECK_FALSE(report.look(Instant{}));
  CHECK(report.sick() == SickGpus{{}, {GpuId{0}, GpuId{1}}});
  std::filesystem::remove(dir.path / "broken");
  wait_until(watch, [](const auto& word) { return word.failed.empty(); });
  CHECK(report.look(Instant{}));
  CHECK(report.sick() == SickGpus{});
}

TEST_CASE("a drain leaves the GPUs of an attempt alone until all its parts have ended") {
  const TestFolder dir("report");
  HealthOptions options = quick();
  options.command = {"/bin/sh", "-c",
                     "printf '\\033[31mlong'; head -c 9999 /dev/zero | tr '\\0' x; exit 1"};
  const Topology topology = two_servers();
  const MachineWatch watch(options, false, machine_clock());
  MachineReport report(topology, {0, 2}, options, {}, &watch);
  report.started(part(7, 0, {GpuId{0}, GpuId{1}}), Instant{});
  report.started(part(7, 1, {GpuId{2}}), Instant{});
  wait_until(watch, [](const auto& word) { return !word.failed.empty(); });
  CHECK(report.look(Instant{}));
  CHECK(report.sick() == SickGpus{{}, {GpuId{3}}});
  // Words of any length and kind, for a terminal.
  CHECK(report.findings()[0].text.size() < 500);
  CHECK(is_visible_line(report.findings()[0].text));
  (void)report.ended({part(7, 0, {}).attempt, ServerId{0}, {}, {}});
  CHECK_FALSE(report.look(Instant{}));
  (void)report.ended({part(7, 0, {}).attempt, ServerId{1}, {}, {}});
  CHECK(report.look(Instant{}));
  CHECK(report.sick() == SickGpus{{}, {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}}});
}

/// Whose parts end when a test says so.
struct Ending final : Launcher {
  Status start(const LaunchSpec&) override { return done(); }
  void stop(AttemptId, Duration) override {}
  void renew(AttemptId, Instant) override {}
  std::vector<Exit> reap() override { return std::exchange(ends, {}); }
  std::vector<Exit> ends;
};

TEST_CASE("a GPU of a drained server is told in the cycle in which its job ends") {
  const TestFolder dir("report");
  HealthOptions options = quick();
  options.command = {"false"};
  const Topology topology = two_servers();
  const MachineWatch watch(options, false, machine_clock());
  MachineReport report(topology, {0, 1}, options, {}, &watch);
  Ending inner;
  struct Standing final : Clock {
    [[nodiscard]] Instant now() const noexcept override { return Instant{}; }
  } clock;
  WatchedLauncher launcher(inner, dir.path / "health", {0, 2}, clock, &report);
  wait_until(watch, [](const auto& word) { return !word.failed.empty(); });
  REQUIRE(launcher.start(part(7, 0, {GpuId{1}})).ok());
  CHECK(launcher.health_news() == SickGpus{{}, {GpuId{0}}});
  inner.ends.push_back({part(7, 0, {}).attempt, ServerId{0}, {}, {}});
  CHECK(launcher.reap().size() == 1);
  CHECK(launcher.health_news() == SickGpus{{}, {GpuId{0}, GpuId{1}}});
}

TEST_CASE("what an earlier life found is told no longer where this one finds nothing") {
  const TestFolder dir("report");
  REQUIRE(write_findings(dir.path, {{Kind::bad, {GpuId{1}}, "GPU 1 is not used: XID 79"}}).ok());
  const Topology topology = two_servers();
  MachineReport report(topology, {0, 1}, {}, {}, nullptr);
  Ending inner;
  WatchedLauncher launcher(inner, dir.path / "health", {0, 2}, machine_clock(), &report);
  CHECK_FALSE(launcher.health_news());
  CHECK(read_findings(dir.path).empty());
}

TEST_CASE("a probe that hangs has failed, and one that is not to undrain stays so") {
  const TestFolder dir("report");
  HealthOptions options = quick();
  options.timeout = 50ms;
  options.undrain = false;
  options.command = {"/bin/sh", "-c",
                     "[ -e " + (dir.path / "seen").string() + " ] || { touch " +
                         (dir.path / "seen").string() + "; sleep 20; }"};
  const MachineWatch watch(options, false, machine_clock());
  wait_until(watch,
             [](const auto& word) { return word.failed.find("longer") != std::string::npos; });
  std::this_thread::sleep_for(100ms);
  CHECK_FALSE(watch.word().failed.empty());
}

TEST_CASE("GPUs that a job has and does not use are told, not those that are free") {
  const TestFolder dir("report");
  const FakeDriver driver(dir.path);
  driver.say(R"(, "utilisation": 0)");
  const Topology topology = two_servers();
  HealthOptions options = quick();
  options.idle = 300ms;
  const MachineWatch watch(options, true, machine_clock(), FAKE_NVML);
  MachineReport report(topology, {0, 1}, options, {}, &watch);
  wait_until(watch, [](const auto& word) { return word.gpus.size() == 2; });
  const Instant start = machine_clock().now();
  CHECK_FALSE(report.look(start + 1h));
  report.started(part(7, 0, {GpuId{0}, GpuId{1}}), start);
  CHECK_FALSE(report.look(start + 299ms));
  wait_until(watch, [&](const auto& word) { return word.looked >= start + 300ms; });
  CHECK(report.look(start + 11min));
  REQUIRE(report.findings().size() == 1);
  CHECK(report.findings()[0].kind == Kind::idle);
  CHECK(report.findings()[0].text.find("has 2 GPUs on p0-r0-s0, and has not used ") !=
        std::string::npos);
  CHECK(report.sick() == SickGpus{});
  (void)report.ended({part(7, 0, {}).attempt, ServerId{0}, {}, {}});
  CHECK(report.look(start + 12min));
  CHECK(report.findings().empty());
}

TEST_CASE("energy is that of the GPUs of a part, halved while there are two on them") {
  const TestFolder dir("report");
  const FakeDriver driver(dir.path);
  const auto energy = [&](int mj) { driver.say(", \"energy_mj\": " + std::to_string(mj)); };
  energy(1000);
  const Topology topology = two_servers();
  const MachineWatch watch(quick(), true, machine_clock(), FAKE_NVML);
  MachineReport report(topology, {0, 1}, quick(), {}, &watch);
  const auto metered = [&](std::uint64_t mj) {
    wait_until(watch, [mj](const auto& word) {
      return word.gpus.contains(0) && word.gpus.at(0).energy_mj == mj;
    });
    (void)report.look(Instant{});
  };
  metered(1000);
  report.started(part(7, 0, {GpuId{0}}), Instant{});
  energy(5000);
  metered(5000);
  report.started(part(8, 0, {GpuId{0}, GpuId{1}}), Instant{});
  energy(9000);
  metered(9000);
  CHECK(report.ended({part(7, 0, {}).attempt, ServerId{0}, {}, {}}) == doctest::Approx(6));
  energy(10000);
  metered(10000);
  CHECK(report.ended({part(8, 0, {}).attempt, ServerId{0}, {}, {}}) == doctest::Approx(3));
  CHECK(report.ended({part(9, 0, {}).attempt, ServerId{0}, {}, {}}) < 0);
}

TEST_CASE("what is missing at the start is marked, believed or a reason to end") {
  const TestFolder dir("report");
  const FakeDriver driver(dir.path);
  GeneratorOptions shape;
  shape.servers = 1;
  shape.gpus_per_server = 3;
  shape.gpu_type = "H100";
  const Topology topology = generate_flat(shape).value();
  HealthOptions options;
  const auto check = [&](Missing missing, const char* library) {
    options.missing = missing;
    return check_machine(topology, {0, 1}, options, dir.path, library);
  };
  const auto marked = check(Missing::usual, FAKE_NVML);
  REQUIRE(marked.ok());
  REQUIRE(!marked.value().empty());
  CHECK(marked.value()[0].gpus == Placement{GpuId{2}});
  CHECK(marked.value()[0].kind == Kind::bad);
  CHECK(check(Missing::believe, FAKE_NVML).value().empty());
  CHECK(check(Missing::refuse, FAKE_NVML).error().code == Errc::invalid);
  // Without a driver a topology stands for a test, unless it is to be taken at its word.
  CHECK(check(Missing::usual, "none.so").value().empty());
  CHECK(check(Missing::mark, "none.so").value()[0].gpus.size() == 3);
  CHECK(std::filesystem::exists(dir.path / "gpus"));
}

TEST_CASE("a driver that hangs keeps no executor from its jobs") {
  const TestFolder dir("report");
  std::ofstream(dir.path / "gpus.json") << R"({"gpus": [], "hangs_s": 2})";
  ::setenv("FAKE_NVML_FILE", (dir.path / "gpus.json").c_str(), 1);
  HealthOptions options;
  const auto found = check_machine(two_servers(), {0, 1}, options, dir.path, FAKE_NVML, 10ms);
  REQUIRE(found.ok());
  REQUIRE(found.value().size() == 1);
  CHECK(found.value()[0].text.starts_with("NVIDIA's driver does not answer"));
  options.missing = Missing::refuse;
  CHECK_FALSE(check_machine(two_servers(), {0, 1}, options, dir.path, FAKE_NVML, 10ms).ok());
  std::this_thread::sleep_for(3s);  // until those that were left behind are over
  ::unsetenv("FAKE_NVML_FILE");
}

}  // namespace
}  // namespace starling
