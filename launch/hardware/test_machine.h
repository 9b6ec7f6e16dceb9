// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "launch/hardware/look.h"

namespace starling {

/// For tests: two sockets with two GPUs each behind a switch, an Ethernet port and an InfiniBand
/// card, as hwloc writes them.
inline constexpr const char* kTwoSockets = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f" allowed_cpuset="0x0000000f" nodeset="0x00000003" complete_nodeset="0x00000003" allowed_nodeset="0x00000003" gp_index="1">
  <info name="HostName" value="tiny"/>
  <object type="Package" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="2">
   <object type="NUMANode" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="3" local_memory="8589934592"/>
   <object type="Core" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="4">
    <object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="5"/>
   </object>
   <object type="Core" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="6">
    <object type="PU" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="7"/>
   </object>
   <object type="Bridge" gp_index="20" bridge_type="0-1" depth="0" bridge_pci="0000:[16-1b]">
    <object type="Bridge" gp_index="21" bridge_type="1-1" depth="1" bridge_pci="0000:[18-1a]" pci_busid="0000:17:00.0" pci_type="0604 [1000:c030] [1000:1003] b0" pci_link_speed="63.0">
     <object type="PCIDev" gp_index="22" pci_busid="0000:18:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="63.0"/>
     <object type="PCIDev" gp_index="23" pci_busid="0000:19:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="63.0"/>
    </object>
    <object type="PCIDev" gp_index="24" pci_busid="0000:16:00.0" pci_type="0200 [8086:1533] [8086:0001] 03" pci_link_speed="0.5">
     <object type="OSDev" gp_index="25" name="eth0" osdev_type="2"/>
    </object>
   </object>
  </object>
  <object type="Package" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="8">
   <object type="NUMANode" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="9" local_memory="8589934592"/>
   <object type="Core" os_index="2" cpuset="0x00000004" complete_cpuset="0x00000004" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="10">
    <object type="PU" os_index="2" cpuset="0x00000004" complete_cpuset="0x00000004" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="11"/>
   </object>
   <object type="Core" os_index="3" cpuset="0x00000008" complete_cpuset="0x00000008" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="12">
    <object type="PU" os_index="3" cpuset="0x00000008" complete_cpuset="0x00000008" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="13"/>
   </object>
   <object type="Bridge" gp_index="30" bridge_type="0-1" depth="0" bridge_pci="0000:[96-9b]">
    <object type="Bridge" gp_index="31" bridge_type="1-1" depth="1" bridge_pci="0000:[98-9b]" pci_busid="0000:97:00.0" pci_type="0604 [1000:c030] [1000:1003] b0" pci_link_speed="63.0">
     <object type="PCIDev" gp_index="32" pci_busid="0000:98:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="63.0"/>
     <object type="PCIDev" gp_index="33" pci_busid="0000:99:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="63.0"/>
     <object type="PCIDev" gp_index="34" pci_busid="0000:9a:00.0" pci_type="0207 [15b3:1021] [15b3:0041] 00" pci_link_speed="63.0">
      <object type="OSDev" gp_index="35" name="ib0" osdev_type="2"/>
      <object type="OSDev" gp_index="36" name="mlx5_0" osdev_type="3"/>
     </object>
    </object>
   </object>
  </object>
 </object>
</topology>
)";

/// Its GPUs for the fake driver; the last one has MIG on.
inline constexpr const char* kFourGpus = R"({"gpus": [
{"name": "NVIDIA H100 80GB HBM3", "uuid": "GPU-0", "serial": "S0", "memory_gib": 79.6, "pci": "0000:18:00.0",
 "links": [{"switch": true}, {"switch": true}, {"down": true}], "link_mbytes": 26562, "cluster": "c", "clique": 7},
{"name": "NVIDIA H100 80GB HBM3", "uuid": "GPU-1", "serial": "S1", "memory_gib": 79.6, "pci": "0000:19:00.0",
 "links": [{"switch": true}, {"switch": true}], "link_mbytes": 26562, "cluster": "c", "clique": 7},
{"name": "NVIDIA H100 80GB HBM3", "uuid": "GPU-2", "serial": "S2", "memory_gib": 79.6, "pci": "0000:98:00.0",
 "links": [{"switch": true}, {"switch": true}], "link_mbytes": 26562, "cluster": "c", "clique": 7},
{"name": "NVIDIA H100 80GB HBM3", "uuid": "GPU-3", "serial": "S3", "memory_gib": 79.6, "pci": "0000:99:00.0",
 "links": [{"switch": true}, {"switch": true}], "link_mbytes": 26562, "cluster": "c", "clique": 7,
 "mig": ["1g.10gb", "2g.20gb"]}]})";

/// hwloc and the fake driver say these as long as it lives.
struct FakeMachine {
  FakeMachine(const std::filesystem::path& dir, const char* xml, const char* gpus) {
    std::ofstream(dir / "machine.xml") << xml;
    std::ofstream(dir / "gpus.json") << gpus;
    const auto net = dir / "sys/class/net/eth0", port = dir / "sys/class/infiniband/mlx5_0/ports/1";
    std::filesystem::create_directories(net);
    std::filesystem::create_directories(port);
    std::ofstream(net / "speed") << "1000\n";
    std::ofstream(port / "state") << "4: ACTIVE\n";
    std::ofstream(port / "rate") << "400 Gb/sec (4X NDR)\n";
    ::setenv("HWLOC_XMLFILE", (dir / "machine.xml").c_str(), 1);
    ::setenv("FAKE_NVML_FILE", (dir / "gpus.json").c_str(), 1);
    sources.nvml = FAKE_NVML;
    sources.sys = dir / "sys";
    sources.lldpctl = "";
  }
  ~FakeMachine() {
    ::unsetenv("HWLOC_XMLFILE");
    ::unsetenv("FAKE_NVML_FILE");
  }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  LookSources sources;
};

}  // namespace starling
