// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "base/test_data.h"
#include "topology/file/load.h"
#include "topology/importers/hwloc.h"
#include "topology/importers/nccl.h"
#include "topology/importers/nvidia_smi.h"
#include "topology/importers/test_import.h"

namespace starling {
namespace {

struct Expected {
  const char* file;
  const char* gpu_type;
  std::uint32_t gpus;
  std::uint32_t island;
  std::uint32_t switches;
  std::uint32_t sockets;
  double island_gbps;
  double nic_gbps;
};

TEST_CASE("the published machines: GPUs, islands, switches, sockets" *
          doctest::test_suite("published data")) {
  const Expected machines[] = {
      {"nccl/azure_ndv2-topo.xml", "V100-32GB", 8, 4, 8, 2, 800, 100},
      {"nccl/azure_ndv4-topo.xml", "A100", 8, 8, 4, 4, 2400, 8 * 200},
      {"nccl/azure_ndv5-topo.xml", "H100", 8, 8, 8, 2, 3600, 8 * 400},
      {"nccl/aws_p4d-24xl-topo.xml", "A100", 8, 8, 4, 2, 2400, 4 * 100},
      {"nccl/aws_p4de-24xl-topo.xml", "A100-80GB", 8, 8, 4, 2, 2400, 4 * 100},
      {"nccl/aws_g5.48xl-topo.xml", "A10G", 8, 1, 8, 2, 128, 100},
      {"hwloc/nvidiaDGX2.xml", "V100-32GB", 16, 16, 8, 2, 1200, 0},
      {"nvidia_smi/dgx1_v100.tsv", "V100", 8, 4, 4, 2, 800, 4 * 100},
      {"nvidia_smi/dgx_h100.tsv", "H100", 8, 8, 8, 2, 3600, 8 * 400},
  };
  for (const Expected& e : machines) {
    const auto path = test_data(std::string("topology/") + e.file);
    if (!path) return;
    CAPTURE(std::string(e.file));
    const auto read = load_topology(path->string());
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
    const Topology& t = read.value();
    REQUIRE(t.server_count() == 1);
    const Server& server = t.servers()[0];
    CHECK(t.gpu_count() == e.gpus);
    CHECK(t.gpu_types()[server.gpu_type.value].name == e.gpu_type);
    CHECK(server.gpus_per_island == e.island);
    CHECK(server.switches.size() == e.switches);
    CHECK(server.switches.back().socket + 1 == e.sockets);
    CHECK(server.island_gbps == doctest::Approx(e.island_gbps));
    if (e.nic_gbps > 0) CHECK(server.nic_gbps == doctest::Approx(e.nic_gbps));
    CHECK(parse_topology_yaml(to_yaml(t), "again").value() == t);
  }
}

TEST_CASE("NVLink elements are not needed; an SM number names the GPU") {
  const char* const text = R"(<system version="1"><cpu numaid="0">
      <pci busid="0" class="0x060400"><pci busid="1"><gpu dev="0" sm="75"/></pci>
      <pci busid="2"><gpu dev="1" sm="75"/></pci></pci>
      <pci busid="3"><nic><net name="mlx5_0" speed="25000"/></nic></pci></cpu></system>)";
  const Topology t = parse_topology(text, "host.xml").value();
  CHECK(t.gpu_types()[0].name == "T4");
  CHECK(t.servers()[0].gpus_per_island == 2);
  CHECK(t.servers()[0].nic_gbps == doctest::Approx(25));
}

TEST_CASE("mistakes in machines' files are named by line") {
  CHECK(says(import_nccl("<system>\n<cpu>\n</system>", "n.xml"), "n.xml:3: not valid XML"));
  CHECK(says(import_nccl("<system>\n</system>", "n.xml"), "n.xml:1: <system> holds no <cpu>"));
  CHECK(says(import_hwloc("<topology></topology>", "h.xml"), "h.xml:1: 0 GPUs"));
  CHECK(says(import_hwloc("<topology>\n<distances2hetero name=\"NVLinkBandwidth\">"
                          "<indexes>a b</indexes><u64values>1</u64values></distances2hetero>"
                          "</topology>",
                          "h.xml"),
             "h.xml:2: NVLinkBandwidth has 1 values"));
  CHECK(says(import_nvidia_smi("\tGPU0\tGPU1\nGPU0\tX\n", "m.tsv"), "m.tsv:2: 2 cells; write 3"));
  CHECK(says(import_nvidia_smi("\tGPU0\nGPU0\tFAR\n", "m.tsv"), "m.tsv:2: 'FAR' is no relation"));
  CHECK(says(import_nvidia_smi("\tGPU0\tGPU1\nGPU0\tX\tPIX\n", "m.tsv"), "2 columns of GPUs"));
}

}  // namespace
}  // namespace starling
