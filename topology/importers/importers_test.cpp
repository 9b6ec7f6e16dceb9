// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "base/test_data.h"
#include "topology/describe.h"
#include "topology/file/load.h"
#include "topology/importers/lingjun.h"
#include "topology/importers/openb.h"
#include "topology/importers/test_import.h"

namespace starling {
namespace {

const std::string kOpenb = std::string(kOpenbHeader) + "\n";
const std::string kLingjun = std::string(kLingjunHeader) + "\n";

TEST_CASE("openb: nodes keep their hardware, with or without GPUs") {
  const std::string text =
      kOpenb + "n0,32000,262144,0,\r\nn1,96000,393216,8,G2\n\nn2,8000,61440,1,NEW";
  const Topology t = import_openb(text, "nodes.csv").value();
  CHECK(t.name() == "nodes");
  CHECK(t.server_count() == 3);
  CHECK(t.gpu_count() == 9);
  CHECK(t.servers()[0].gpus.size() == 0);
  CHECK(t.servers()[0].cpus == doctest::Approx(32));
  CHECK(t.servers()[2].memory_gib == doctest::Approx(60));
  CHECK(t.gpu_types()[t.type_of(GpuId(8)).value].name == "NEW");
  CHECK(count(t, Level::rack) == 1);
  const Topology racks = import_openb(text, "nodes.csv", {.servers_per_rack = 2}).value();
  CHECK(count(racks, Level::rack) == 2);
  CHECK(racks.route(ServerId(0), ServerId(2)).links.size() == 4);
}

TEST_CASE("openb: bad rows are named") {
  CHECK(says(import_openb(kOpenb + "n0,1,1,0", "n.csv"), "n.csv:2: 4 cells; write 5"));
  CHECK(says(import_openb(kOpenb + "n0,1,1,x,G1", "n.csv"),
             "n.csv:2: gpu is 'x'; write a whole number from 0 to 256"));
  CHECK(says(import_openb(kOpenb + "n0,1,1,-1,G1", "n.csv"), "gpu is '-1'"));
  CHECK(says(import_openb(kOpenb + "n0,1.5,1,1,G1", "n.csv"), "cpu_milli is '1.5'"));
  CHECK(says(import_openb(kOpenb + "n0,1,,1,G1", "n.csv"), "memory_mib is ''"));
  CHECK(says(import_openb(kOpenb + "n0,1,1,1,", "n.csv"), "n.csv:2: model is empty"));
  CHECK(says(import_openb(kOpenb + ",1,1,1,G1", "n.csv"), "n.csv:2: sn is empty"));
  CHECK(says(import_openb(kOpenb + "a,1,1,1,G1\na,1,1,1,G1", "n.csv"),
             "n.csv:3: sn 'a' occurs twice"));
  CHECK(says(import_openb(kOpenb, "n.csv"), "no rows"));
  CHECK(says(import_openb("a,b\n", "n.csv"), "n.csv:1:1: the columns are 'a,b'"));
}

TEST_CASE("openb: the published node list" * doctest::test_suite("published data")) {
  const auto path = test_data("alibaba_openb2023/openb_node_list_all_node.csv");
  if (!path) return;
  const Topology t = load_topology(path->string()).value();
  CHECK(t.server_count() == 1523);
  CHECK(t.gpu_count() == 6212);
  CHECK(t.gpu_types().size() == 7);
  const auto idle = std::count_if(t.servers().begin(), t.servers().end(),
                                  [](const Server& s) { return s.gpus.size() == 0; });
  CHECK(idle == 310);
  CHECK(parse_topology_yaml(to_yaml(t), "again").value() == t);
}

TEST_CASE("Lingjun: racks are access switches within aggregation switches") {
  const Topology t =
      import_lingjun(kLingjun + "h1,G6,P10,S14\nh2,G6,P12,S2\nh3,G6,P10,S2\nh4,G6,P10,S14\n",
                     "topo.csv")
          .value();
  CHECK(t.server_count() == 4);
  CHECK(t.gpu_count() == 32);
  CHECK(count(t, Level::pod) == 2);
  CHECK(count(t, Level::rack) == 3);
  CHECK(t.servers()[0].name == "h3");  // P10-S2 stands before P10-S14
  CHECK(t.subtrees()[t.rack_of(ServerId(1))].name == "P10-S14");
  CHECK(t.route(ServerId(1), ServerId(2)).links.size() == 2);
  CHECK(t.route(ServerId(0), ServerId(1)).links.size() == 4);
  CHECK(t.route(ServerId(0), ServerId(3)).links.size() == 6);
}

TEST_CASE("Lingjun: bad rows are named") {
  CHECK(says(import_lingjun(kLingjun + "h1,G6,P10", "t.csv"), "t.csv:2: 3 cells; write 4"));
  CHECK(says(import_lingjun(kLingjun + "h1,G6,,S1", "t.csv"), "t.csv:2: PSW is empty"));
  CHECK(says(import_lingjun(kLingjun + "h1,G6,P1,S1\nh1,G6,P1,S1", "t.csv"),
             "t.csv:3: host 'h1' occurs twice"));
  CHECK(says(import_lingjun(kLingjun + "h1,G6,P1,S1\nh2,G7,P1,S1", "t.csv"), "two DSWs"));
  CHECK(says(import_lingjun(kLingjun + "h1,G6,P1,S1", "t.csv", {.gpu_type = "X"}),
             "unknown GPU type"));
}

TEST_CASE("Lingjun: the published table" * doctest::test_suite("published data")) {
  const auto path = test_data("alibaba_lingjun2023/topo.csv");
  if (!path) return;
  const Topology t = load_topology(path->string()).value();
  CHECK(t.server_count() == 668);
  CHECK(t.gpu_count() == 668 * 8);
  CHECK(count(t, Level::pod) == 2);
  CHECK(check_topology(t).empty());
  CHECK(parse_topology_yaml(to_yaml(t), "again").value() == t);
}

}  // namespace
}  // namespace starling
