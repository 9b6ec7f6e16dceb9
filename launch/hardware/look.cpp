// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/look.h"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>

#include "base/counted.h"
#include "launch/processes/subprocess.h"

namespace starling {
namespace {

namespace fs = std::filesystem;
using Object = hwloc_obj_t;

struct Destroy {
  void operator()(hwloc_topology_t tree) const { hwloc_topology_destroy(tree); }
};
using Tree = std::unique_ptr<hwloc_topology, Destroy>;

Result<Tree> load_tree() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {Errc::io, "hwloc cannot begin"};
  Tree tree(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(raw) != 0)
    return {Errc::io,
            "hwloc cannot read this machine (or what HWLOC_XMLFILE or HWLOC_SYNTHETIC name)"};
  return tree;
}

std::string info_of(Object object, const char* name) {
  const char* const value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? "" : value;
}

std::string pci_of(Object device) {
  char text[32];
  const auto& pci = device->attr->pcidev;
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", static_cast<unsigned>(pci.domain),
                static_cast<unsigned>(pci.bus), static_cast<unsigned>(pci.dev),
                static_cast<unsigned>(pci.func));
  return text;
}

/// The GPUs that hwloc knows by name, where its description was made with NVML.
std::vector<GpuFound> named_gpus(hwloc_topology_t tree) {
  std::vector<GpuFound> all;
  for (Object device = nullptr; (device = hwloc_get_next_pcidev(tree, device)) != nullptr;) {
    GpuFound gpu;
    for (Object inner = device->io_first_child; inner != nullptr; inner = inner->next_sibling) {
      if (const std::string model = info_of(inner, "GPUModel"); !model.empty()) gpu.model = model;
      if (const std::string uuid = info_of(inner, "NVIDIAUUID"); !uuid.empty()) gpu.uuid = uuid;
      if (const std::string serial = info_of(inner, "NVIDIASerial"); !serial.empty())
        gpu.serial = serial;
      if (const std::string kib = info_of(inner, "CUDAGlobalMemorySize"); !kib.empty())
        gpu.memory_gib = std::atof(kib.c_str()) / (1024 * 1024);
    }
    if (gpu.model.empty() || device->attr->pcidev.class_id >> 8U != 3) continue;
    gpu.pci = pci_of(device);
    all.push_back(std::move(gpu));
  }
  std::sort(all.begin(), all.end(),
            [](const GpuFound& a, const GpuFound& b) { return a.pci < b.pci; });
  for (std::size_t i = 0; i < all.size(); ++i) all[i].index = static_cast<std::uint32_t>(i);
  return all;
}

/// NVLinks of GPUs that only hwloc knows: its matrix of MB/s.
void add_matrix(hwloc_topology_t tree, std::vector<GpuFound>& gpus) {
  unsigned count = 1;
  hwloc_distances_s* matrix = nullptr;
  if (hwloc_distances_get_by_name(tree, "NVLinkBandwidth", &count, &matrix, 0) != 0 || count == 0)
    return;
  const auto gpu_at = [&](unsigned i) -> GpuFound* {
    Object object = matrix->objs[i];
    while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) object = object->parent;
    if (object == nullptr) return nullptr;
    const std::string pci = pci_of(object);
    const auto at =
        std::find_if(gpus.begin(), gpus.end(), [&](const GpuFound& gpu) { return gpu.pci == pci; });
    return at == gpus.end() ? nullptr : &*at;
  };
  const unsigned n = matrix->nbobjs;
  for (unsigned row = 0; row < n; ++row) {
    GpuFound* const gpu = gpu_at(row);
    for (unsigned column = 0; gpu != nullptr && column < n; ++column) {
      const double mbytes = static_cast<double>(matrix->values[row * n + column]);
      if (row == column || mbytes <= 0) continue;
      gpu->nvlink_gbps += mbytes * 8 / 1000;
      if (const GpuFound* const peer = gpu_at(column); peer != nullptr) {
        gpu->peers.push_back(peer->pci);
      } else {
        gpu->switched = true;
      }
    }
  }
  hwloc_distances_release(tree, matrix);
  for (GpuFound& gpu : gpus) std::sort(gpu.peers.begin(), gpu.peers.end());
}

/// Sockets and shared bridges.
void place_gpus(hwloc_topology_t tree, std::vector<GpuFound>& gpus) {
  std::map<Object, int> below;
  std::vector<std::vector<Object>> bridges(gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    if (std::sscanf(gpus[i].pci.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
      continue;
    const Object found = hwloc_get_pcidev_by_busid(tree, domain, bus, device, function);
    if (found == nullptr) continue;
    gpus[i].pcie_gbps = static_cast<double>(found->attr->pcidev.linkspeed) * 8;
    for (Object up = found->parent; up != nullptr; up = up->parent) {
      if (up->type == HWLOC_OBJ_BRIDGE && up->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI) {
        bridges[i].push_back(up);
        ++below[up];
      }
      if (up->type == HWLOC_OBJ_PACKAGE) gpus[i].socket = static_cast<int>(up->logical_index);
    }
    // I/O may hang below a group or the machine, whose CPUs say more than its place in the tree.
    if (gpus[i].socket >= 0) continue;
    const Object host = hwloc_get_non_io_ancestor_obj(tree, found);
    const int packages =
        hwloc_get_nbobjs_inside_cpuset_by_type(tree, host->cpuset, HWLOC_OBJ_PACKAGE);
    if (packages == 1)
      gpus[i].socket = static_cast<int>(
          hwloc_get_obj_inside_cpuset_by_type(tree, host->cpuset, HWLOC_OBJ_PACKAGE, 0)
              ->logical_index);
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const auto shared = std::find_if(bridges[i].begin(), bridges[i].end(),
                                     [&](Object bridge) { return below[bridge] > 1; });
    if (shared != bridges[i].end())
      gpus[i].pcie_switch = "bridge " + std::to_string((*shared)->gp_index);
  }
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Gbit/s of an interface that is up: Ethernet in /sys/class/net, InfiniBand as "400 Gb/sec (4X
/// NDR)".
double speed_of(const fs::path& sys, const std::string& name) {
  const double mbit = std::atof(first_line(sys / "class/net" / name / "speed").c_str());
  if (mbit > 0) return mbit / 1000;
  const fs::path ports = sys / "class/infiniband" / name / "ports";
  double gbps = 0;
  std::error_code ignored;
  for (const auto& port : fs::directory_iterator(ports, ignored)) {
    if (first_line(port.path() / "state").find("ACTIVE") != std::string::npos)
      gbps += std::atof(first_line(port.path() / "rate").c_str());
  }
  return gbps;
}

/// One for each card: an InfiniBand card has an interface of both kinds.
std::vector<NicFound> nics_of(hwloc_topology_t tree, const fs::path& sys) {
  std::vector<NicFound> all;
  const bool here = hwloc_topology_is_thissystem(tree) != 0 || sys != "/sys";
  for (Object device = nullptr; (device = hwloc_get_next_pcidev(tree, device)) != nullptr;) {
    if (device->attr->pcidev.class_id >> 8U != 2) continue;
    NicFound nic{pci_of(device), 0};
    for (Object inner = device->io_first_child; inner != nullptr; inner = inner->next_sibling) {
      if (inner->name == nullptr) continue;
      const double gbps = here ? speed_of(sys, inner->name) : 0;
      if (gbps > nic.gbps || nic.name.find(':') != std::string::npos) nic = {inner->name, gbps};
    }
    all.push_back(std::move(nic));
  }
  return all;
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name[0] == 0 ? "server" : name;
}

void ask_neighbours(const std::string& program, MachineFound& machine) {
  if (program.empty()) return;
  ProgramOptions options;
  options.timeout = std::chrono::seconds(10);
  const Finished ran = run_program({program, "-f", "json"}, options);
  if (ran.status == 127) {
    machine.remarks.emplace_back("there is no lldpctl: its switches are not known");
    return;
  }
  auto heard = ran.ok() ? read_lldp(ran.out)
                        : Result<std::vector<NeighbourFound>>(Error{Errc::io, last_words(ran)});
  if (heard) {
    machine.neighbours = std::move(heard).value();
  } else {
    machine.remarks.push_back("lldpctl: " + heard.error().message);
  }
}

}  // namespace

Result<MachineFound> look_at_hardware(const LookSources& sources) {
  auto loaded = load_tree();
  if (!loaded) return loaded.error();
  hwloc_topology_t tree = loaded.value().get();
  const bool here = hwloc_topology_is_thissystem(tree) != 0;
  MachineFound machine;
  machine.name = host_name();
  if (!here) {
    const std::string name = info_of(hwloc_get_root_obj(tree), "HostName");
    machine.name = name.empty() ? "server" : name;
  }
  machine.cpus = std::max(0, hwloc_get_nbobjs_by_type(tree, HWLOC_OBJ_PU));
  machine.memory_gib =
      static_cast<double>(hwloc_get_root_obj(tree)->total_memory) / (1024.0 * 1024 * 1024);
  machine.sockets =
      static_cast<std::uint32_t>(std::max(0, hwloc_get_nbobjs_by_type(tree, HWLOC_OBJ_PACKAGE)));
  std::string why;
  if (const auto nvml = Nvml::open(sources.nvml, &why)) {
    machine.gpus = nvml->gpus();
  } else {
    machine.gpus = named_gpus(tree);
    add_matrix(tree, machine.gpus);
    if (machine.gpus.empty()) machine.remarks.push_back("no GPUs: " + why);
  }
  place_gpus(tree, machine.gpus);
  machine.nics = nics_of(tree, sources.sys);
  if (here) ask_neighbours(sources.lldpctl, machine);
  return machine;
}

}  // namespace starling
