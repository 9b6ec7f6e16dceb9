// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "base/test_data.h"
#include "topology/describe.h"
#include "topology/file/load.h"
#include "topology/importers/hived.h"
#include "topology/importers/host_list.h"
#include "topology/importers/slurm.h"
#include "topology/importers/test_import.h"
#include "topology/importers/topograph.h"

namespace starling {
namespace {

TEST_CASE("host lists expand with their zeros") {
  CHECK(expand_hosts("gpu[01-03,7],login").value() ==
        std::vector<std::string>{"gpu01", "gpu02", "gpu03", "gpu7", "login"});
  CHECK(expand_hosts("[1101-1102]").value() == std::vector<std::string>{"1101", "1102"});
  CHECK(expand_hosts("r[1-2]n[1-2]").value() ==
        std::vector<std::string>{"r1n1", "r1n2", "r2n1", "r2n2"});
  for (const char* bad : {"", "a[", "a[]", "a[2-1]", "a[x]", "a,,b", "a[0-99999999]", "a b"}) {
    CAPTURE(std::string(bad));
    CHECK_FALSE(expand_hosts(bad).ok());
  }
}

TEST_CASE("the published clusters: servers, racks, pods" * doctest::test_suite("published data")) {
  struct Expected {
    const char* file;
    std::size_t servers, gpus, racks, pods, domains;
  };
  const Expected clusters[] = {
      {"topology/topograph/small-tree.yaml", 6, 24, 2, 1, 2},
      {"topology/topograph/medium.yaml", 8, 32, 4, 2, 4},
      {"topology/topograph/nvl72.yaml", 72, 288, 4, 2, 4},
      {"topology/topograph/dual-xclr-regular.yaml", 96, 384, 12, 6, 2},
      {"topology/hived/hived-config-1.yaml", 5, 20, 2, 1, 0},
      {"topology/hived/design.yaml", 21, 3 * 2 + 3 * 8 + 13 * 16 + 2 * 16, 7, 1, 0},
      {"alibaba_pai2020/machine_spec.csv", 1897, 280 * 8 + 798 * 2 + 497 * 2 + (45 + 59 + 135) * 8,
       1, 1, 0},
      {"alibaba_spot2026/node_info.csv", 4278, 2494 + 902 + 40 + (432 + 22 + 77 + 122 + 219) * 8, 1,
       1, 0},
  };
  for (const Expected& e : clusters) {
    const auto path = test_data(e.file);
    if (!path) return;
    CAPTURE(std::string(e.file));
    const auto read = load_topology(path->string());
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
    const Topology& t = read.value();
    CHECK(t.server_count() == e.servers);
    CHECK(t.gpu_count() == e.gpus);
    CHECK(count(t, Level::rack) == e.racks);
    CHECK(count(t, Level::pod) == e.pods);
    CHECK(t.domains().size() == e.domains);
    CHECK(t.route(ServerId(0), ServerId(t.server_count() - 1)).links.size() > 1);
    CHECK(parse_topology_yaml(to_yaml(t), "again").value() == t);
  }
}

TEST_CASE("HiveD: sockets and switches below a node" * doctest::test_suite("published data")) {
  const auto path = test_data("topology/hived/design.yaml");
  if (!path) return;
  const Topology t = load_topology(path->string()).value();
  const auto dgx1 = std::find_if(t.servers().begin(), t.servers().end(),
                                 [](const Server& s) { return s.gpus.size() == 8; });
  REQUIRE(dgx1 != t.servers().end());
  CHECK(dgx1->switches == std::vector<PcieSwitch>{{0, 2}, {0, 2}, {1, 2}, {1, 2}});
  CHECK(t.gpu_types()[dgx1->gpu_type.value].name == "P100");
}

const char* const kSlurm =
    "# a tree\n"
    "SwitchName=leaf[1] Nodes=n[1-2] LinkSpeed=100\n"
    "SwitchName=leaf2 \\\n  Nodes=n[3-4]\n"
    "SwitchName=top Switches=leaf[1-2]\n";

TEST_CASE("Slurm: topology.conf with gres.conf, and topology.yaml say the same") {
  const std::string conf =
      "SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 \\\n Nodes=n[3-4] # two\n"
      "SwitchName=top Switches=leaf[1-2]\n";
  const std::string gres =
      "AutoDetect=off\nNodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-3] Cores=0-31\n"
      "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[4-7] Cores=32-63\n"
      "NodeName=n3 Name=gpu Type=t4 Count=2\n";
  const std::string yaml =
      "- topology: flat\n  flat: true\n- topology: tree\n  cluster_default: true\n  tree:\n"
      "    switches:\n      - {switch: leaf1, nodes: 'n[1-2]'}\n"
      "      - {switch: leaf2, nodes: 'n[3-4]'}\n      - {switch: top, children: 'leaf[1-2]'}\n";
  const Topology t = import_slurm_conf(conf, "topology.conf", gres).value();
  CHECK(t.server_count() == 4);
  CHECK(t.gpu_count() == 8 + 8 + 2);
  CHECK(t.gpu_types()[t.type_of(GpuId(0)).value].name == "A100");
  CHECK(t.socket_of(GpuId(8 + 4)) == 1);
  CHECK(t.servers()[3].gpus.size() == 0);
  CHECK(count(t, Level::rack) == 2);
  CHECK(count(t, Level::pod) == 1);
  CHECK(t.route(ServerId(0), ServerId(3)).links.size() == 4);
  CHECK(check_topology(t).empty());
  CHECK(import_slurm_yaml(yaml, "topology.yaml", gres).value() == t);
  CHECK(parse_topology(yaml, "topology.yaml").value().gpu_count() == 32);
  const Topology blocks =
      parse_topology("BlockName=b1 Nodes=a[1-2]\nBlockName=b2 Nodes=a[3-4]\nBlockSizes=2\n",
                     "t.conf")
          .value();
  CHECK(count(blocks, Level::rack) == 2);
}

TEST_CASE("mistakes in clusters' files are named by line") {
  CHECK(says(parse_topology(kSlurm, "t.conf"), "t.conf:5: switch 'top' holds 'leaf1'"));
  CHECK(says(parse_topology("SwitchName=a Switches=b\n", "t.conf"),
             "t.conf:1: switch 'a' holds 'b'"));
  CHECK(
      says(parse_topology("SwitchName=x Nodes=n1\nSwitchName=a Switches=b\nSwitchName=b Switches=a",
                          "t.conf"),
           "t.conf:2: switch 'a' is below itself"));
  CHECK(says(parse_topology("SwitchName=a Nodes=n[1-\n", "t.conf"),
             "t.conf:1: cannot read the names"));
  CHECK(says(parse_topology("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n", "t.conf"),
             "t.conf:2: node 'n1' occurs twice"));
  CHECK(says(import_slurm_conf("SwitchName=a Nodes=n1\n", "t.conf",
                               "NodeName=n1 Name=gpu Type=a\n\nNodeName=n1 Name=gpu Type=b\n"),
             "gres.conf:3: node 'n1' has GPUs of types a and b"));
  CHECK(says(import_slurm_conf("SwitchName=a Nodes=n1\n", "t.conf", "Name=gpu Count=x\n"),
             "gres.conf:1: Count is 'x'"));
  CHECK(says(
      import_topograph("switches:\n  s: {switches: [l]}\nblocks:\n- switch: l\n  nodes: ['a[']\n",
                       "t.yaml"),
      "t.yaml:5:"));
  CHECK(says(import_hived("physicalCluster:\n  cellTypes:\n    N: {childCellType: G, "
                          "childCellNumber: 2}\n  physicalCells:\n  - cellType: N\n",
                          "h.yaml"),
             "h.yaml:5:"));
  CHECK(says(import_hived("physicalCluster: 3\n", "h.yaml"), "h.yaml:1:"));
}

TEST_CASE("topograph: nodes of one accelerator domain are trays of a scale-up domain") {
  const Topology t =
      import_topograph(
          "switches:\n  top: {switches: [a, b, c]}\nblocks:\n"
          "- {switch: a, nodes: ['n[1-3]'], annotations: {accelerator.x/domain: one}}\n"
          "- {switch: b, nodes: ['n[4-5]'], labels: {net.x/accelerator: two}}\n"
          "- {switch: b, nodes: [n6], labels: {net.x/accelerator: lone}}\n"
          "- {switch: c, nodes: ['n[7-8]'], annotations: {net.x/zone: one}}\n",
          "t.yaml")
          .value();
  REQUIRE(t.domains().size() == 2);
  CHECK(t.domains()[0] == ScaleUpDomain{{0, 3}, 7200});
  CHECK(t.domains()[1] == ScaleUpDomain{{3, 5}, 7200});
  CHECK(t.gpu_types()[t.servers()[0].gpu_type.value].name == "GB200");
  CHECK(t.servers()[4].gpus.size() == 4);
  CHECK(t.servers()[5].gpus.size() == 8);  // alone in its domain, so nothing special
  CHECK(t.servers()[7].gpus.size() == 8);
  // What lies apart is no range of servers, so it is left out rather than halved.
  const Topology apart =
      import_topograph(
          "switches:\n  top: {switches: [a, b]}\nblocks:\n"
          "- {switch: a, nodes: [n1, n2], annotations: {accelerator.x/domain: one}}\n"
          "- {switch: a, nodes: [n3, n4], annotations: {accelerator.x/domain: two}}\n"
          "- {switch: b, nodes: [n5, n6], annotations: {accelerator.x/domain: one}}\n",
          "t.yaml")
          .value();
  REQUIRE(apart.domains().size() == 1);
  CHECK(apart.domains()[0].servers == IndexRange{2, 4});
}

}  // namespace
}  // namespace starling
