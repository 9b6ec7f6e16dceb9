// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/health_options.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/test_folder.h"
#include "launch/hardware/energy_book.h"
#include "launch/hardware/hardware_check.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

std::string flaw(const std::string& text) {
  const auto read = parse_health_options(text, "h.yaml");
  return read.ok() ? "" : read.error().message;
}

TEST_CASE("a health file says how executors look after their machines") {
  const auto read = parse_health_options(
      "hardware: refuse\ncommand: [/bin/check, --quick]\ninterval_s: 0.5\ntimeout_s: 2\n"
      "undrain: false\ngpus: {watch: false, interval_s: 1, temperature_c: 85, xids_ignored: [13], "
      "idle_min: 0}\n",
      "h.yaml");
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
  HealthOptions is;
  is.missing = Missing::refuse;
  is.command = {"/bin/check", "--quick"};
  is.interval = 500ms;
  is.timeout = 2s;
  is.undrain = is.watch_gpus = false;
  is.gpu_interval = 1s;
  is.temperature_c = 85;
  is.xids_ignored = {13};
  is.idle = 0s;
  CHECK(read.value() == is);
  CHECK(parse_health_options("command: df / | check", "h").value().command ==
        std::vector<std::string>{"/bin/sh", "-c", "df / | check"});
  CHECK(parse_health_options("", "h").value() == HealthOptions());
}

TEST_CASE("what is wrong in a health file is told with its place") {
  CHECK(flaw("hardware: maybe") ==
        "h.yaml:1:11: hardware 'maybe' is wrong; write believe, mark or refuse");
  CHECK(flaw("comand: x").find("h.yaml:1:1: ") == 0);
  CHECK(flaw("\ncommand: {a: b}").find("h.yaml:2:10: command is no command") == 0);
  CHECK(flaw("undrain: perhaps").find("write true or false") != std::string::npos);
  CHECK(flaw("interval_s: 0").find("h.yaml:1:13: ") == 0);
  CHECK(flaw("gpus: {xids_ignored: [a]}").find("XID 'a' is wrong") != std::string::npos);
  CHECK(flaw("a: [").find("this is not YAML") != std::string::npos);
}

TEST_CASE("findings are kept in a file that is gone when there are none") {
  const TestFolder dir("findings");
  const std::vector<HardwareFinding> findings{
      {HardwareFinding::Kind::idle, {GpuId{3}, GpuId{4}}, "job 1 rests"},
      {HardwareFinding::Kind::drained, {}, "\"h1\" is drained"}};
  REQUIRE(write_findings(dir.path, findings).ok());
  CHECK(read_findings(dir.path) == findings);
  std::ofstream(dir.path / "hardware.json") << "{}";
  CHECK(read_findings(dir.path).empty());
  REQUIRE(write_findings(dir.path, {}).ok());
  CHECK(std::filesystem::is_empty(dir.path));
}

TEST_CASE("the energy of a job is that of all its attempts on all executors") {
  const TestFolder dir("energy");
  for (const char* node : {"executor-0", "executor-1"}) {
    std::filesystem::create_directories(dir.path / node);
    note_energy(dir.path / node, {JobId{1, 2}, Epoch{1}, 1}, 1000);
  }
  note_energy(dir.path / "executor-0", {JobId{1, 2}, Epoch{1}, 2}, 0.5);
  note_energy(dir.path / "executor-0", {JobId{1, 3}, Epoch{1}, 2}, 7);
  std::ofstream(dir.path / "executor-0" / "energy.csv", std::ios::app) << "torn";
  const auto all = energy_of_jobs(dir.path);
  CHECK(all.size() == 2);
  CHECK(all.at(JobId{1, 2}) == doctest::Approx(2000.5));
}

TEST_CASE("GPUs that are not what the topology says, one by one") {
  GeneratorOptions options;
  options.servers = 2;
  options.gpus_per_server = 4;
  options.gpu_type = "H100";
  const Topology topology = generate_flat(options).value();
  std::vector<GpuFound> gpus(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    gpus[i].index = i;
    gpus[i].model = "NVIDIA H100 80GB HBM3";
    gpus[i].memory_gib = 79.6;
  }
  gpus[1].model = "NVIDIA A100-SXM4-80GB";
  gpus[1].uuid = "GPU-1";
  gpus[2].memory_gib = 40;
  const auto missing = missing_gpus(gpus, topology, {1, 2});
  REQUIRE(missing.size() == 3);
  CHECK(missing[0].gpus == Placement{GpuId{5}});
  CHECK(missing[0].text ==
        "GPU 1 (GPU-1) of p0-r0-s1 is not used: it is a NVIDIA "
        "A100-SXM4-80GB, the topology says H100");
  CHECK(missing[1].text ==
        "GPU 2 of p0-r0-s1 is not used: it has 40 GiB of memory, the topology "
        "says 80");
  CHECK(missing[2].text == "GPU 3 of p0-r0-s1 is not used: the machine has 3 GPUs");
  // The same flaw is one finding, and a machine of other GPUs is another machine.
  gpus.resize(1);
  const auto run = missing_gpus(gpus, topology, {0, 1});
  REQUIRE(run.size() == 1);
  CHECK(run[0].gpus == Placement{GpuId{1}, GpuId{2}, GpuId{3}});
  CHECK(run[0].text == "GPUs 1 to 3 of p0-r0-s0 are not used: the machine has 1 GPU");
  CHECK_FALSE(is_about_others(gpus, topology, {0, 1}));
  gpus[0].model = "Tesla T4";
  CHECK(is_about_others(gpus, topology, {0, 1}));
  CHECK_FALSE(is_about_others({}, topology, {0, 1}));
  gpus.resize(3);
  gpus[1].uuid = "GPU-1";
  gpus[1].model.clear();
  CHECK(missing_gpus(gpus, topology, {0, 1})[1].text.ends_with("the driver cannot reach it"));
  CHECK(replaced_gpus(gpus, {"", "GPU-9", "GPU-2"}) ==
        std::vector<std::string>{"GPU 1 is another one than before: GPU-1, it was GPU-9"});
}

}  // namespace
}  // namespace starling
