// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/nccl.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <pugixml.hpp>

#include "topology/importers/machine.h"

namespace starling {
namespace {

// What the files of these cloud machines leave out.
struct Platform {
  const char* in_name;
  const char* gpu_type;
  std::uint32_t nvlink_island;
  double nvlink_gbps;
  double nic_gbps;
};
constexpr Platform kPlatforms[] = {
    {"ndv2", "V100-32GB", 4, 800, 100}, {"ndv4", "A100", 8, 2400, 200},
    {"ndv5", "H100", 8, 3600, 400},     {"p4de", "A100-80GB", 8, 2400, 100},
    {"p4d", "A100", 8, 2400, 100},      {"g5", "A10G", 0, 0, 100},
};

const char* type_of_device(const std::string& device) {
  static const std::map<std::string, const char*> types = {
      {"0x102d", "K80"},       {"0x15f8", "P100"},      {"0x15f9", "P100"}, {"0x1db1", "V100"},
      {"0x1db5", "V100-32GB"}, {"0x1eb8", "T4"},        {"0x2236", "A10"},  {"0x2237", "A10G"},
      {"0x20b0", "A100"},      {"0x20b2", "A100-80GB"}, {"0x2330", "H100"}};
  const auto at = types.find(device);
  return at == types.end() ? "" : at->second;
}

const char* type_of_sm(int sm) {
  static const std::map<int, const char*> types = {
      {37, "K80"}, {60, "P100"}, {70, "V100"}, {75, "T4"}, {80, "A100"}, {86, "A10"}, {90, "H100"}};
  const auto at = types.find(sm);
  return at == types.end() ? "" : at->second;
}

class NcclReader {
 public:
  NcclReader(const std::string& text, Diagnostics& diagnostics)
      : text_(text), diagnostics_(diagnostics) {}

  Machine read(const pugi::xml_node& system) {
    for (const pugi::xml_node& cpu : system.children("cpu")) {
      auto& socket = machine_.sockets.emplace_back();
      unclassed_.push_back(0);
      walk(cpu, socket);
    }
    if (machine_.sockets.empty()) {
      diagnostics_.add({line_at(text_, system.offset_debug()), 0},
                       "<system> holds no <cpu>; write one for each socket");
    }
    share_out_unclassed();
    return std::move(machine_);
  }

 private:
  void walk(const pugi::xml_node& parent, std::vector<std::uint32_t>& socket) {
    std::uint32_t below = 0;  // GPUs right below this switch
    for (const pugi::xml_node& pci : parent.children("pci")) {
      if (pci.child("pci")) {
        walk(pci, socket);
        continue;
      }
      const std::string kind = pci.attribute("class").value();
      const pugi::xml_node gpu = pci.child("gpu");
      if (gpu || kind.rfind("0x03", 0) == 0) {
        note_gpu(pci, gpu);
        if (parent.name() == std::string("cpu")) {
          socket.push_back(1);
        } else {
          ++below;
        }
      } else if (pci.child("nic") || kind.rfind("0x02", 0) == 0) {
        ++machine_.nics;
        const double mbps = pci.child("nic").child("net").attribute("speed").as_double();
        if (mbps > 0) machine_.nic_gbps = mbps / 1000;
      } else if (kind.empty()) {
        ++unclassed_.back();
      }
    }
    if (below > 0) socket.push_back(below);
  }

  void note_gpu(const pugi::xml_node& pci, const pugi::xml_node& gpu) {
    if (machine_.gpu_type.empty()) {
      machine_.gpu_type = type_of_device(pci.attribute("device").value());
    }
    if (machine_.gpu_type.empty()) machine_.gpu_type = type_of_sm(gpu.attribute("sm").as_int());
    // "32.0 GT/s PCIe" times 16 lanes is 512 Gbit/s.
    const double speed = std::strtod(pci.attribute("link_speed").value(), nullptr);
    const double gbps = speed * pci.attribute("link_width").as_double();
    if (gbps > 0 && gbps < 1e5) machine_.pcie_gbps = gbps;
  }

  void share_out_unclassed() {
    if (unclassed_.empty()) return;
    const std::uint32_t each = *std::min_element(unclassed_.begin(), unclassed_.end());
    for (std::size_t socket = 0; socket < unclassed_.size(); ++socket) {
      machine_.sockets[socket].insert(machine_.sockets[socket].end(), each, 1);
      machine_.nics += unclassed_[socket] - each;
    }
  }

  const std::string& text_;
  Diagnostics& diagnostics_;
  Machine machine_;
  std::vector<std::uint32_t> unclassed_;  // devices of no class, by socket
};

}  // namespace

bool is_nccl_xml(std::string_view text) noexcept {
  const std::size_t at = text.find("<system");
  return at != std::string_view::npos && text.find("<topology") > at;
}

Result<Topology> import_nccl(const std::string& text, const std::string& file_name) {
  Diagnostics diagnostics(file_name);
  pugi::xml_document document;
  const pugi::xml_parse_result read = document.load_buffer(text.data(), text.size());
  if (!read) {
    diagnostics.add({line_at(text, read.offset), 0}, std::string("not valid XML: ") +
                                                         read.description() +
                                                         "; write what NCCL_TOPO_DUMP_FILE gives");
    return diagnostics.error();
  }
  Machine machine = NcclReader(text, diagnostics).read(document.child("system"));
  std::string name = std::filesystem::path(file_name).stem().string();
  for (const Platform& platform : kPlatforms) {
    if (name.find(platform.in_name) == std::string::npos) continue;
    machine.gpu_type = platform.gpu_type;
    machine.nvlink_island = platform.nvlink_island;
    machine.nvlink_gbps = platform.nvlink_gbps;
    if (machine.nic_gbps <= 0) machine.nic_gbps = platform.nic_gbps;
    break;
  }
  return topology_of(machine, file_name, diagnostics);
}

}  // namespace starling
