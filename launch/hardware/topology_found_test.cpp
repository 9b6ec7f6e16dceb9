// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/topology_found.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/visible.h"
#include "topology/file/load.h"

namespace starling {
namespace {

/// Two GPUs on one NVLink fabric and two ports of 400 Gbit/s.
MachineFound pair_on(const std::string& name, const std::string& cluster = "") {
  MachineFound machine;
  machine.name = name;
  machine.cpus = 64;
  machine.memory_gib = 511.7;
  machine.sockets = 1;
  for (std::uint32_t i = 0; i < 2; ++i) {
    GpuFound gpu;
    gpu.index = i;
    gpu.model = "NVIDIA H100 80GB HBM3";
    gpu.memory_gib = 79.6;
    gpu.pci = "0000:1" + std::to_string(i) + ":00.0";
    gpu.socket = 0;
    gpu.pcie_gbps = 504;
    gpu.links = 18;
    gpu.nvlink_gbps = 3825;
    gpu.switched = true;
    gpu.cluster = cluster;
    machine.gpus.push_back(gpu);
  }
  machine.nics = {{"eth0", 1}, {"mlx5_0", 400}, {"mlx5_1", 400}};
  return machine;
}

FoundTopology found_in(const std::vector<MachineFound>& machines, const FoundNetwork& network) {
  auto found = topology_found(machines, network, "x");
  REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
  // What is written is what was found.
  const auto read =
      parse_topology_yaml(to_yaml(found.value().topology, found.value().remarks), "x.yaml");
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
  CHECK(read.value() == found.value().topology);
  return found.value();
}

std::vector<std::string> names_at(const Topology& topology, Level level) {
  std::vector<std::string> names;
  for (const Subtree& tree : topology.subtrees())
    if (tree.level == level) names.push_back(tree.name);
  return names;
}

bool has_remark(const FoundTopology& found, const std::string& part) {
  return std::any_of(found.remarks.begin(), found.remarks.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

double gbps_between(const Topology& topology, const std::string& a, const std::string& b) {
  const auto nodes = topology.network_nodes();
  for (const NetworkLink& link : topology.network_links()) {
    const std::string &x = nodes[link.a].name, &y = nodes[link.b].name;
    if ((x == a && y == b) || (x == b && y == a)) return link.gbps;
  }
  return 0;
}

TEST_CASE("a machine alone: what it has, and that its network is a guess") {
  const FoundTopology found = found_in({pair_on("h1")}, {});
  const Server& server = found.topology.server(ServerId{0});
  CHECK(server.name == "h1");
  CHECK(server.cpus == 64);
  CHECK(server.memory_gib == 511);
  CHECK(server.gpus.size() == 2);
  CHECK(found.topology.gpu_types()[0].name == "H100");
  CHECK(server.nics == 2);
  CHECK(server.nic_gbps == 800);
  CHECK(server.gpus_per_island == 2);
  CHECK(server.island_gbps == 3825);
  CHECK(server.server_gbps == 504);
  CHECK(has_remark(found, "guessed: all servers are one rack below one switch"));
  CHECK(has_remark(found, "guessed: nics: the fastest alone"));
}

TEST_CASE("what a machine does not say is guessed, and each guess is said") {
  MachineFound machine = pair_on("h1");
  for (GpuFound& gpu : machine.gpus) {
    gpu.socket = -1;
    gpu.pcie_gbps = gpu.nvlink_gbps = gpu.memory_gib = 0;
    gpu.switched = false;
  }
  machine.gpus[1].model = "Tesla T4";
  machine.gpus[1].mig_on = true;
  machine.nics = {{"eth0", 0}};
  MachineFound other = machine;
  other.name = "h2";
  const FoundTopology found = found_in({machine, other}, {});
  for (const char* part :
       {"all GPUs are NVIDIA H100 80GB HBM3", "memory_gib of H100 is what such GPUs usually have",
        "nic_gbps: 100 Gbit/s a port", "pcie_gbps: 128 Gbit/s",
        "sockets: where its GPUs are plugged in cannot be seen", "GPUs with MIG on"})
    CHECK_MESSAGE(has_remark(found, std::string("guessed: ") + part), part);
  CHECK(has_remark(found, "(h1, h2)"));
  CHECK(found.topology.server(ServerId{0}).gpus_per_island == 1);
}

TEST_CASE("a card that is larger than its name's is a type of its own") {
  MachineFound machine = pair_on("h1");
  for (GpuFound& gpu : machine.gpus) gpu.model = "NVIDIA H100 NVL", gpu.memory_gib = 93.6;
  const FoundTopology found = found_in({machine}, {});
  CHECK(found.topology.gpu_types()[0].name == "NVIDIA H100 NVL");
  CHECK(found.topology.gpu_types()[0].memory_gib == 94);
}

TEST_CASE("NVLink islands: pairs, and what a topology cannot say") {
  MachineFound machine = pair_on("h1");
  machine.gpus.push_back(machine.gpus[0]);
  machine.gpus.push_back(machine.gpus[1]);
  for (std::uint32_t i = 0; i < 4; ++i) {
    GpuFound& gpu = machine.gpus[i];
    gpu.index = i;
    gpu.pci = "0000:1" + std::to_string(i) + ":00.0";
    gpu.switched = false;
    gpu.peers = {"0000:1" + std::to_string(i ^ 1U) + ":00.0"};
  }
  CHECK(found_in({machine}, {}).topology.server(ServerId{0}).gpus_per_island == 2);
  for (std::uint32_t i = 0; i < 4; ++i)
    machine.gpus[i].peers = {"0000:1" + std::to_string(i ^ 2U) + ":00.0"};
  const FoundTopology crossed = found_in({machine}, {});
  CHECK(crossed.topology.server(ServerId{0}).island_gbps == 504);
  CHECK(has_remark(crossed, "guessed: island: NVLink joins groups of GPUs that are unequal"));
  // A ring: an island, though not every two are neighbours.
  for (std::uint32_t i = 0; i < 4; ++i) {
    machine.gpus[i].peers = {"0000:1" + std::to_string((i + 1) % 4) + ":00.0",
                             "0000:1" + std::to_string((i + 3) % 4) + ":00.0"};
    std::sort(machine.gpus[i].peers.begin(), machine.gpus[i].peers.end());
  }
  const FoundTopology ring = found_in({machine}, {});
  CHECK(ring.topology.server(ServerId{0}).gpus_per_island == 4);
  CHECK(has_remark(ring, "some of its GPUs reach one another over a third one"));
}

TEST_CASE("LLDP: servers of one switch are a rack, whatever their order") {
  std::vector<MachineFound> machines{pair_on("h1"), pair_on("h2"), pair_on("h3")};
  machines[0].neighbours = {{"mlx5_0", "leaf10"}, {"eth0", "office"}};
  machines[1].neighbours = {{"mlx5_0", "leaf2"}};
  machines[2].neighbours = {{"mlx5_0", "leaf10"}};
  const FoundTopology found = found_in(machines, network_heard(machines));
  CHECK(names_at(found.topology, Level::rack) ==
        std::vector<std::string>{"rack-leaf2", "rack-leaf10"});
  CHECK(found.topology.server(ServerId{0}).name == "h2");
  CHECK(gbps_between(found.topology, "h1", "leaf10") == 400);
  CHECK(gbps_between(found.topology, "leaf10", "core0") == 800);
  CHECK(gbps_between(found.topology, "h1", "office") == 0);
  CHECK(has_remark(found, "guessed: core0 joins all switches"));
}

TEST_CASE("what neighbours call themselves cannot break the file") {
  std::vector<MachineFound> machines{pair_on("h1"), pair_on("h2")};
  machines[0].neighbours = {{"mlx5_0", "h1"}, {"mlx5_1", "h2"}, {"mlx5_1", "leaf1"}};
  machines[1].neighbours = {{"mlx5_0", "leaf1"}};
  machines[1].remarks = {"lldpctl: broken\npods: []\n\x1b[31m"};
  const FoundTopology found = found_in(machines, network_heard(machines));
  CHECK(gbps_between(found.topology, "h1", "h2") == 0);
  CHECK(gbps_between(found.topology, "h1", "leaf1") == 400);
  CHECK(has_remark(found, "left out: 1 cable from server to server"));
  for (const std::string& remark : found.remarks) CHECK(is_visible_line(remark));

  machines[1].neighbours = {{"mlx5_0", "leaf\n\x01\"\\"}};
  machines[0].memory_gib = -3;
  const auto refused = topology_found(machines, network_heard(machines), "x");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::invalid);

  FoundNetwork network;
  network.links = {{"h1", "leaf1", std::numeric_limits<double>::infinity()},
                   {"leaf1", "leaf1", 400},
                   {"h2", "leaf1", std::nan("")}};
  CHECK(gbps_between(found_in({pair_on("h1"), pair_on("h2")}, network).topology, "h1", "leaf1") ==
        800);
}

TEST_CASE("ibnetdiscover: cables, speeds, and hosts that are others") {
  const std::string text =
      "vendid=0x2c9\ndevid=0xd2f0\n"
      "switchguid=0x1(1)\n"
      "Switch\t3 \"S-0001\"\t\t# \"MF0;leaf1:MQM8700/U1\" enhanced port 0 lid 1 lmc 0\n"
      "[1]\t\"H-000a\"[1](a) \t\t# \"h1 mlx5_0\" lid 10 4xHDR\n"
      "[2]\t\"H-000b\"[1](b) \t\t# \"h2 mlx5_0\" lid 11 4xHDR\n"
      "[3]\t\"S-0003\"[1]\t\t# \"MF0;spine1:MQM8700/U1\" lid 3 4xHDR\n"
      "[4]\t\"S-0003\"[4]\t\t# \"MF0;spine1:MQM8700/U1\" lid 3 4xHDR\n"
      "\n"
      "Switch\t3 \"S-0002\"\t\t# \"Quantum Mellanox Technologies\" base port 0 lid 2 lmc 0\n"
      "[1]\t\"H-000c\"[1](c) \t\t# \"h3.cluster HCA-1\" lid 12 2xHDR\n"
      "[2]\t\"H-000d\"[1](d) \t\t# \"storage7 HCA-1\" lid 13 4xEDR\n"
      "[3]\t\"S-0003\"[2]\t\t# \"MF0;spine1:MQM8700/U1\" lid 3 4xHDR\n"
      "\n"
      "Switch\t3 \"S-0003\"\t\t# \"MF0;spine1:MQM8700/U1\" enhanced port 0 lid 3 lmc 0\n"
      "[1]\t\"S-0001\"[3]\t\t# \"MF0;leaf1:MQM8700/U1\" lid 1 4xHDR\n"
      "[2]\t\"S-0002\"[3]\t\t# \"Quantum Mellanox Technologies\" lid 2 4xHDR\n"
      "[4]\t\"S-0001\"[4]\t\t# \"MF0;leaf1:MQM8700/U1\" lid 1 4xHDR\n"
      "\n"
      "Ca\t1 \"H-000a\"\t\t# \"h1 mlx5_0\"\n"
      "[1](a) \t\"S-0001\"[1]\t\t# lid 10 lmc 0 \"MF0;leaf1:MQM8700/U1\" lid 1 4xHDR\n";
  const std::vector<MachineFound> machines{pair_on("h1"), pair_on("h2"), pair_on("h3")};
  const auto network = read_ibnetdiscover(text, "ib.txt", {"h1", "h2", "h3"});
  REQUIRE_MESSAGE(network.ok(), (network.ok() ? "" : network.error().message));
  const FoundTopology found = found_in(machines, network.value());
  CHECK(names_at(found.topology, Level::rack) ==
        std::vector<std::string>{"rack-S-0002", "rack-leaf1"});
  CHECK(names_at(found.topology, Level::pod) == std::vector<std::string>{"pod-spine1"});
  CHECK(gbps_between(found.topology, "h1", "leaf1") == 200);
  CHECK(gbps_between(found.topology, "h3", "S-0002") == 100);
  CHECK(gbps_between(found.topology, "leaf1", "spine1") == 400);
  CHECK(has_remark(found, "left out: 1 host of ib.txt that were not looked at, as storage7"));
  CHECK_FALSE(has_remark(found, "core0"));

  CHECK(read_ibnetdiscover("hello\n", "x", {}).error().message ==
        "x:1: there is no switch; write what ibnetdiscover prints");
  CHECK(read_ibnetdiscover("Switch 3 S-1\n", "x", {})
            .error()
            .message.starts_with("x:1: a section without"));
  CHECK(read_ibnetdiscover("Switch 3 \"S-1\" # \"l\"\n[1]\t\"H\n", "x", {})
            .error()
            .message.starts_with("x:2: a port without"));
}

TEST_CASE("one fabric over servers is a scale-up domain, where it can be") {
  const std::vector<MachineFound> machines{pair_on("t1", "aa"), pair_on("t2"), pair_on("t3", "aa")};
  const FoundTopology found = found_in(machines, {});
  REQUIRE(found.topology.domains().size() == 1);
  CHECK(found.topology.domains()[0] == ScaleUpDomain{{1, 3}, 3825});
  CHECK(found.topology.server(ServerId{1}).name == "t1");

  // Racks keep them apart.
  FoundNetwork network;
  network.links = {{"t1", "leaf1", 400}, {"t2", "leaf2", 400}, {"t3", "leaf3", 400}};
  const FoundTopology apart = found_in(machines, network);
  CHECK(apart.topology.domains().empty());
  CHECK(has_remark(apart, "left out: the NVLink domain of t1: its servers are not next to"));
}

TEST_CASE("the network of a description, with the hardware that was found") {
  const std::string text =
      "switches:\n  core: {switches: [leaf-a, leaf-b]}\n"
      "blocks:\n"
      "  - {switch: leaf-a, nodes: [n1, n2], annotations: {accelerator.x/domain: d1}}\n"
      "  - {switch: leaf-b, nodes: [n3, n9]}\n";
  const auto described = parse_topology(text, "topograph.yaml");
  REQUIRE_MESSAGE(described.ok(), (described.ok() ? "" : described.error().message));
  const std::vector<MachineFound> machines{pair_on("n3"), pair_on("n2"), pair_on("n1")};
  const FoundTopology found = found_in(machines, network_of(described.value(), {"n3", "n2", "n1"}));
  CHECK(names_at(found.topology, Level::rack) ==
        std::vector<std::string>{"rack-leaf-a", "rack-leaf-b"});
  REQUIRE(found.topology.domains().size() == 1);
  CHECK(found.topology.domains()[0].servers == IndexRange{0, 2});
  CHECK(gbps_between(found.topology, "n1", "leaf-a") == 800);
  CHECK(gbps_between(found.topology, "leaf-a", "core") == 1600);
  CHECK(has_remark(found, "left out: 1 server of the network's description that were not looked"));
  CHECK(has_remark(found, "guessed: gbps of links between switches"));
}

TEST_CASE("what is no data centre is refused") {
  CHECK(topology_found({}, {}, "x").error().message == "there is no machine");
  CHECK(topology_found({pair_on("a"), pair_on("a")}, {}, "x")
            .error()
            .message.starts_with("two machines are called 'a'"));
  MachineFound many = pair_on("a");
  many.gpus.resize(257);
  CHECK(topology_found({many}, {}, "x").error().message ==
        "a has 257 GPUs; a server has 256 at most");
}

}  // namespace
}  // namespace starling
