// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/look.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>

#include "base/test_data.h"
#include "base/test_folder.h"
#include "launch/hardware/test_machine.h"
#include "launch/hardware/topology_found.h"
#include "topology/file/load.h"

namespace starling {
namespace {

TEST_CASE("a machine is what hwloc and the driver say") {
  const TestFolder dir("look");
  const FakeMachine fake(dir.path, kTwoSockets, kFourGpus);
  const auto looked = look_at_hardware(fake.sources);
  REQUIRE_MESSAGE(looked.ok(), (looked.ok() ? "" : looked.error().message));
  const MachineFound& machine = looked.value();
  CHECK(machine.name == "tiny");
  CHECK(machine.cpus == 4);
  CHECK(machine.memory_gib == doctest::Approx(16));
  CHECK(machine.sockets == 2);
  REQUIRE(machine.gpus.size() == 4);
  CHECK(machine.gpus[0].model == "NVIDIA H100 80GB HBM3");
  CHECK(machine.gpus[0].uuid == "GPU-0");
  CHECK(machine.gpus[3].serial == "S3");
  CHECK(machine.gpus[1].memory_gib == doctest::Approx(79.6).epsilon(0.001));
  CHECK(machine.gpus[1].socket == 0);
  CHECK(machine.gpus[2].socket == 1);
  CHECK(machine.gpus[0].pcie_switch == machine.gpus[1].pcie_switch);
  CHECK(machine.gpus[0].pcie_switch != machine.gpus[2].pcie_switch);
  CHECK(machine.gpus[0].pcie_gbps == doctest::Approx(504));
  CHECK(machine.gpus[0].links == 2);
  CHECK(machine.gpus[0].switched);
  CHECK(machine.gpus[0].nvlink_gbps == doctest::Approx(2 * 26.562 * 8).epsilon(0.001));
  CHECK(machine.gpus[3].mig == std::vector<std::string>{"1g.10gb", "2g.20gb"});
  REQUIRE(machine.nics.size() == 2);
  CHECK(machine.nics[0] == NicFound{"eth0", 1});
  CHECK(machine.nics[1] == NicFound{"mlx5_0", 400});

  const auto again = machine_from_json(to_json(machine));
  REQUIRE(again.ok());
  CHECK(again.value() == machine);
  MachineFound impossible = machine;
  impossible.gpus[0].nvlink_gbps = 1e300;
  CHECK_FALSE(machine_from_json(to_json(impossible)).ok());
  CHECK(machine_from_json("{}").error().message.starts_with("not a machine as 'starling topology"));
}

TEST_CASE("a machine without a driver is a server without GPUs, and says so") {
  const TestFolder dir("look");
  FakeMachine fake(dir.path, kTwoSockets, kFourGpus);
  fake.sources.nvml = "none.so";
  const auto looked = look_at_hardware(fake.sources);
  REQUIRE(looked.ok());
  CHECK(looked.value().gpus.empty());
  CHECK(looked.value().remarks == std::vector<std::string>{"no GPUs: there is no none.so"});
  ::setenv("FAKE_NVML_BROKEN", "1", 1);
  fake.sources.nvml = FAKE_NVML;
  const auto broken = look_at_hardware(fake.sources);
  ::unsetenv("FAKE_NVML_BROKEN");
  REQUIRE(broken.ok());
  REQUIRE(broken.value().remarks.size() == 1);
  CHECK(broken.value().remarks[0].ends_with("is there and its driver does not answer"));
  const auto found = topology_found({looked.value()}, {}, "x");
  REQUIRE(found.ok());
  CHECK(found.value().topology.gpu_count() == 0);
  CHECK(found.value().topology.server(ServerId{0}).cpus == 4);
}

TEST_CASE("this machine has CPUs and memory") {
  LookSources sources;
  sources.lldpctl = "";
  const auto looked = look_at_hardware(sources);
  REQUIRE(looked.ok());
  CHECK(looked.value().cpus >= 1);
  CHECK(looked.value().memory_gib > 0.1);
  CHECK_FALSE(looked.value().name.empty());
}

TEST_CASE("lldpctl writes one thing as itself and several as a list") {
  const auto one = read_lldp(R"({"lldp": {"interface": {"eth1": {"via": "LLDP",
      "chassis": {"leaf1": {"id": {"type": "mac", "value": "00:11"}}},
      "port": {"id": {"type": "ifname", "value": "swp3"}}}}}})");
  REQUIRE(one.ok());
  CHECK(one.value() == std::vector<NeighbourFound>{{"eth1", "leaf1"}});
  const auto two = read_lldp(R"({"lldp": {"interface": [
      {"eth1": {"chassis": {"leaf1": {}}}}, {"eth2": {"chassis": {"leaf2": {}}}}]}})");
  REQUIRE(two.ok());
  CHECK(two.value() == std::vector<NeighbourFound>{{"eth1", "leaf1"}, {"eth2", "leaf2"}});
  const auto lists = read_lldp(R"({"lldp": [{"interface": [{"name": "eth1",
      "chassis": [{"id": [{"type": "mac", "value": "00:11"}], "name": [{"value": "leaf1"}]}]}]}]})");
  REQUIRE(lists.ok());
  CHECK(lists.value() == std::vector<NeighbourFound>{{"eth1", "leaf1"}});
  // A switch without a name is called by its address.
  const auto nameless = read_lldp(
      R"({"lldp": {"interface": {"eth1": {"chassis": {"id": {"type": "mac", "value": "00:11"}}}}}})");
  REQUIRE(nameless.ok());
  CHECK(nameless.value() == std::vector<NeighbourFound>{{"eth1", "00:11"}});
  CHECK(read_lldp(R"({"lldp": {}})").value().empty());
  CHECK_FALSE(read_lldp("[]").ok());
  CHECK_FALSE(read_lldp("leaf1").ok());
}

TEST_CASE("a DGX-2 as hwloc stored it" * doctest::test_suite("published data")) {
  const auto file = test_data("topology/hwloc/nvidiaDGX2.xml");
  if (!file) return;
  // It was written by hwloc 3; the same objects are in the form of hwloc 2.
  std::ifstream in(*file);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::string newer = "<topology version=\"3.0\">";
  REQUIRE(text.find(newer) != std::string::npos);
  text.replace(text.find(newer), newer.size(), "<topology version=\"2.0\">");
  const TestFolder dir("look");
  std::ofstream(dir.path / "dgx2.xml") << text;
  ::setenv("HWLOC_XMLFILE", (dir.path / "dgx2.xml").c_str(), 1);
  LookSources sources;
  sources.nvml = "none.so";
  const auto looked = look_at_hardware(sources);
  ::unsetenv("HWLOC_XMLFILE");
  REQUIRE_MESSAGE(looked.ok(), (looked.ok() ? "" : looked.error().message));
  REQUIRE(looked.value().gpus.size() == 16);
  CHECK(looked.value().sockets == 2);
  const auto found = topology_found({looked.value()}, {}, "dgx2");
  REQUIRE(found.ok());
  const Server& server = found.value().topology.server(ServerId{0});
  CHECK(found.value().topology.gpu_types()[0].name == "V100-32GB");
  CHECK(server.gpus.size() == 16);
  CHECK(server.gpus_per_island == 16);
  CHECK(server.island_gbps == doctest::Approx(1200).epsilon(0.01));
  CHECK(server.switches.size() == 8);
  CHECK(server.switches.back().socket == 1);
  CHECK(looked.value().gpus[0].serial == "0321019030775");
  const auto read =
      parse_topology_yaml(to_yaml(found.value().topology, found.value().remarks), "dgx2.yaml");
  REQUIRE(read.ok());
  CHECK(read.value() == found.value().topology);
}

}  // namespace
}  // namespace starling
