// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/hwloc.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <pugixml.hpp>
#include <sstream>

#include "topology/importers/machine.h"

namespace starling {
namespace {

struct Gpu {
  std::string device;                       // "PCIDev:581"
  std::vector<std::string> system_devices;  // "OSDev:802"
  std::size_t socket = 0;
  std::vector<const void*> bridges;  // from the root
};

bool is_object(const Gpu& gpu, const std::string& name) {
  return name == gpu.device ||
         std::count(gpu.system_devices.begin(), gpu.system_devices.end(), name) > 0;
}

class HwlocReader {
 public:
  HwlocReader(const std::string& text, Diagnostics& diagnostics)
      : text_(text), diagnostics_(diagnostics) {}

  Machine read(const pugi::xml_node& topology) {
    for (const pugi::xml_node& root : topology.children("object")) walk(root, 0);
    machine_.cpus = cpus_ < gpus_.size() ? 0 : static_cast<double>(cpus_);
    group_by_switch();
    for (const pugi::xml_node& node : topology.children("distances2hetero")) {
      if (node.attribute("name").value() == std::string("NVLinkBandwidth")) read_nvlink(node);
    }
    return std::move(machine_);
  }

 private:
  void walk(const pugi::xml_node& node, int depth) {
    constexpr int depth_max = 64;
    if (depth > depth_max) {
      diagnostics_.add({line_at(text_, node.offset_debug()), 0},
                       "objects nest deeper than 64 levels; write a machine's topology");
      return;
    }
    const std::string type = node.attribute("type").value();
    const std::string pci = node.attribute("pci_type").value();
    if (type == "Package") ++packages_;
    if (type == "PU") ++cpus_;
    if (type == "NUMANode") {
      machine_.memory_gib += node.attribute("local_memory").as_double() / (1024.0 * 1024 * 1024);
    }
    if (type == "PCIDev" && pci.rfind("02", 0) == 0) ++machine_.nics;
    if (type == "PCIDev" && pci.rfind("03", 0) == 0) note_gpu(node);
    const bool bridge = type == "Bridge" && node.attribute("bridge_type").value()[0] == '1';
    if (bridge) bridges_.push_back(node.internal_object());
    for (const pugi::xml_node& child : node.children("object")) walk(child, depth + 1);
    if (bridge) bridges_.pop_back();
  }

  void note_gpu(const pugi::xml_node& node) {
    Gpu gpu;
    for (const pugi::xml_node& device : node.children("object")) {
      for (const pugi::xml_node& info : device.children("info")) {
        if (info.attribute("name").value() == std::string("GPUModel")) {
          if (machine_.gpu_type.empty()) machine_.gpu_type = info.attribute("value").value();
          gpu.system_devices.push_back(std::string("OSDev:") +
                                       device.attribute("gp_index").value());
        }
      }
    }
    if (gpu.system_devices.empty()) return;  // a display adapter
    gpu.device = std::string("PCIDev:") + node.attribute("gp_index").value();
    gpu.socket = packages_ > 0 ? packages_ - 1 : 0;
    gpu.bridges = bridges_;
    const double gbytes = node.attribute("pci_link_speed").as_double();
    if (gbytes > 0 && gbytes < 1e4) machine_.pcie_gbps = gbytes * 8;
    gpus_.push_back(std::move(gpu));
  }

  void group_by_switch() {
    std::map<const void*, int> below;
    for (const Gpu& gpu : gpus_) {
      for (const void* bridge : gpu.bridges) ++below[bridge];
    }
    const void* last = nullptr;
    for (const Gpu& gpu : gpus_) {
      const void* inner = nullptr;
      for (const void* bridge : gpu.bridges) {
        if (below[bridge] > 1) inner = bridge;
      }
      machine_.sockets.resize(std::max(machine_.sockets.size(), gpu.socket + 1));
      auto& socket = machine_.sockets[gpu.socket];
      if (inner != nullptr && inner == last && !socket.empty()) {
        ++socket.back();
      } else {
        socket.push_back(1);
      }
      last = inner;
    }
  }

  template <class T>
  std::vector<T> values(const pugi::xml_node& node, const char* name) {
    std::vector<T> all;
    for (const pugi::xml_node& part : node.children(name)) {
      std::istringstream in(part.text().get());
      for (T value; in >> value;) all.push_back(value);
    }
    return all;
  }

  void read_nvlink(const pugi::xml_node& node) {
    const std::vector<std::string> objects = values<std::string>(node, "indexes");
    const std::vector<double> mbytes = values<double>(node, "u64values");
    const std::size_t n = objects.size();
    if (mbytes.size() != n * n) {
      diagnostics_.add({line_at(text_, node.offset_debug()), 0},
                       "NVLinkBandwidth has " + std::to_string(mbytes.size()) + " values for " +
                           std::to_string(n) + " objects; write " + std::to_string(n * n));
      return;
    }
    std::vector<std::size_t> piece(n);
    std::iota(piece.begin(), piece.end(), std::size_t{0});
    for (std::size_t i = 0; i < n * n; ++i) {
      if (mbytes[i] <= 0 || i / n == i % n) continue;
      const std::size_t from = piece[i / n];
      const std::size_t to = piece[i % n];
      std::replace(piece.begin(), piece.end(), from, to);
    }
    // NVSwitches of one machine are one fabric; NVML does not report their trunks to one another.
    std::size_t fabric = n;
    for (std::size_t i = 0; i < n; ++i) {
      const bool gpu = std::any_of(gpus_.begin(), gpus_.end(),
                                   [&](const Gpu& g) { return is_object(g, objects[i]); });
      if (gpu) continue;
      if (fabric == n) fabric = i;
      const std::size_t from = piece[i];
      const std::size_t to = piece[fabric];
      std::replace(piece.begin(), piece.end(), from, to);
    }
    std::vector<std::size_t> of_gpu;
    double least = 0;
    for (const Gpu& gpu : gpus_) {
      const auto at = std::find_if(objects.begin(), objects.end(),
                                   [&gpu](const std::string& o) { return is_object(gpu, o); });
      if (at == objects.end()) return;
      const auto row = static_cast<std::size_t>(at - objects.begin());
      of_gpu.push_back(piece[row]);
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += i == row ? 0 : mbytes[row * n + i];
      least = of_gpu.size() == 1 ? sum : std::min(least, sum);
    }
    // Islands are equally many consecutive GPUs.
    std::size_t island = 0;
    while (island < of_gpu.size() && of_gpu[island] == of_gpu[0]) ++island;
    for (std::size_t i = 0; island > 0 && i < of_gpu.size(); ++i) {
      if (of_gpu[i] != of_gpu[i / island * island]) return;
    }
    if (island < 2) return;
    machine_.nvlink_island = static_cast<std::uint32_t>(island);
    machine_.nvlink_gbps = least * 8 / 1000;
  }

  const std::string& text_;
  Diagnostics& diagnostics_;
  Machine machine_;
  std::vector<Gpu> gpus_;
  std::vector<const void*> bridges_;
  std::size_t packages_ = 0;
  std::size_t cpus_ = 0;
};

}  // namespace

bool is_hwloc_xml(std::string_view text) noexcept {
  const std::size_t at = text.find("<topology");
  return at != std::string_view::npos && text.find("<system") > at;
}

Result<Topology> import_hwloc(const std::string& text, const std::string& file_name) {
  Diagnostics diagnostics(file_name);
  pugi::xml_document document;
  const pugi::xml_parse_result read = document.load_buffer(text.data(), text.size());
  if (!read) {
    diagnostics.add(
        {line_at(text, read.offset), 0},
        std::string("not valid XML: ") + read.description() + "; write what lstopo --of xml gives");
    return diagnostics.error();
  }
  const Machine machine = HwlocReader(text, diagnostics).read(document.child("topology"));
  return topology_of(machine, file_name, diagnostics);
}

}  // namespace starling
