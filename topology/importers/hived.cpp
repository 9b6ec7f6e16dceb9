// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/hived.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/limits.h"
#include "topology/builder.h"
#include "topology/gpu_catalogue.h"
#include "topology/reading/yaml_reader.h"

namespace starling {
namespace {

struct CellType {
  std::string child;
  std::uint32_t children = 1;
  bool is_node = false;
};

// "8192Mi", "512Gi" or bytes.
double gib_of(const std::string& text) {
  char* unit = nullptr;
  const double value = std::strtod(text.c_str(), &unit);
  const std::string suffix = unit;
  if (suffix == "Gi" || suffix == "G") return value;
  if (suffix == "Mi" || suffix == "M") return value / 1024;
  if (suffix == "Ti" || suffix == "T") return value * 1024;
  return value / (1024.0 * 1024 * 1024);
}

class HivedReader {
 public:
  HivedReader(const std::string& name, Diagnostics& diagnostics)
      : diagnostics_(diagnostics), builder_(name) {}

  Result<Topology> read(const YAML::Node& root) {
    const YAML::Node cluster = child_of(root, "physicalCluster");
    if (!child_of(cluster, "cellTypes").IsMap() ||
        !child_of(cluster, "physicalCells").IsSequence()) {
      diagnostics_.add(place_of(root),
                       "physicalCluster lacks cellTypes or physicalCells; write both");
      return diagnostics_.error();
    }
    for (const auto& entry : cluster["cellTypes"]) read_type(entry.first, entry.second);
    skus_.reset(child_of(cluster, "skuTypes"));
    if (diagnostics_.any()) return diagnostics_.error();
    builder_.begin_pod();
    for (const YAML::Node& cell : cluster["physicalCells"]) read_top(cell);
    if (servers_ == 0 && !diagnostics_.any()) {
      diagnostics_.add(place_of(cluster), "there are no physicalCells; write some");
    }
    if (diagnostics_.any()) return diagnostics_.error();
    NetworkPlan plan;
    if (racks_ > 1) {
      plan.core_switches = 1;
      plan.core_gbps = Server{}.nic_gbps * most_in_rack_;
    }
    return std::move(builder_).build(plan);
  }

 private:
  void read_type(const YAML::Node& key, const YAML::Node& body) {
    const auto name = read_name(diagnostics_, key, "a cell type");
    const YamlMap map(diagnostics_, body, "a cell type",
                      {"childCellType", "childCellNumber", "isNodeLevel"});
    CellType type{map.name("childCellType", std::nullopt),
                  map.whole("childCellNumber", 1, 4096, std::nullopt),
                  map.name("isNodeLevel", "false") == "true"};
    if (name) types_.emplace(*name, std::move(type));
  }

  void read_top(const YAML::Node& cell) {
    const YAML::Node given = child_of(cell, "cellType");
    const std::string name = given.IsScalar() ? given.Scalar() : "";
    if (types_.count(name) == 0) {
      std::vector<std::string> known;
      for (const auto& [each, type] : types_) known.push_back(each);
      diagnostics_.add(place_of(cell), "a physical cell of no known cellType '" + name + "'" +
                                           suggestion(name, known));
      return;
    }
    const bool single = types_.at(name).is_node;
    if (!single || last_single_ != name) {
      builder_.begin_rack();
      ++racks_;
      in_rack_ = 0;
    }
    last_single_ = single ? name : "";
    descend(cell, name, 0);
  }

  void descend(const YAML::Node& cell, const std::string& name, int depth) {
    const auto at = types_.find(name);
    constexpr int depth_max = 16;
    if (at == types_.end() || depth > depth_max) {
      diagnostics_.add(place_of(cell), "cell type '" + name +
                                           "' leads to no type with isNodeLevel: true; mark one");
      return;
    }
    if (at->second.is_node) {
      add_node(cell, name);
      return;
    }
    const YAML::Node children = child_of(cell, "cellChildren");
    if (!children.IsSequence() || children.size() != at->second.children) {
      diagnostics_.add(place_of(cell), "a cell of type '" + name + "' must have " +
                                           std::to_string(at->second.children) +
                                           " cellChildren; write them with their addresses");
      return;
    }
    for (const YAML::Node& child : children) descend(child, at->second.child, depth + 1);
  }

  void add_node(const YAML::Node& cell, const std::string& name) {
    std::vector<std::uint32_t> levels;  // children at each level, from the node down
    std::string type = name;
    std::uint64_t gpus = 1;
    for (auto at = types_.find(type); at != types_.end(); at = types_.find(type)) {
      levels.push_back(at->second.children);
      gpus *= at->second.children;
      type = at->second.child;
      constexpr std::uint64_t most = 256;
      if (gpus > most || levels.size() > 16) {
        diagnostics_.add(place_of(cell), "a node of type '" + name +
                                             "' has no end or more than 256 GPUs; lower "
                                             "childCellNumber");
        return;
      }
    }
    const YAML::Node address = child_of(cell, "cellAddress");
    if (!address.IsScalar() || address.Scalar().empty()) {
      diagnostics_.add(place_of(cell), "a node lacks its cellAddress; write the node's name");
      return;
    }
    Server server;
    server.name = address.Scalar();
    if (!names_.insert(server.name).second) server.name += "-" + name;
    while (!names_.insert(server.name).second && server.name != address.Scalar())
      server.name += "+";
    const auto all = static_cast<std::uint32_t>(gpus);
    const std::uint32_t per_switch = levels.size() > 1 ? levels.back() : 1;
    const std::uint32_t sockets = levels.size() > 2 ? levels.front() : 1;
    for (std::uint32_t i = 0; i < all / per_switch; ++i) {
      server.switches.push_back({i * per_switch * sockets / all, per_switch});
    }
    islands_by_switch(server);
    server.island_gbps = server.server_gbps;
    server.cpus = 12.0 * all;
    server.memory_gib = 64.0 * all;
    const YAML::Node sku = child_of(skus_, type);
    if (const YAML::Node cpu = child_of(sku, "cpu"); cpu.IsScalar()) {
      server.cpus = std::clamp(cpu.as<double>(12), 0.0, 4096.0) * all;
    }
    if (const YAML::Node memory = child_of(sku, "memory"); memory.IsScalar()) {
      server.memory_gib = std::clamp(gib_of(memory.Scalar()), 0.0, 65536.0) * all;
    }
    server.gpu_type =
        builder_.gpu_type(gpu_type_in(type).value_or(GpuType{type, GpuType{}.memory_gib}));
    builder_.add_server(std::move(server), all);
    ++servers_;
    most_in_rack_ = std::max(most_in_rack_, ++in_rack_);
  }

  Diagnostics& diagnostics_;
  TopologyBuilder builder_;
  std::map<std::string, CellType> types_;
  YAML::Node skus_;
  std::set<std::string> names_;
  std::string last_single_;
  std::uint32_t servers_ = 0;
  std::uint32_t racks_ = 0;
  std::uint32_t in_rack_ = 0;
  std::uint32_t most_in_rack_ = 0;
};

}  // namespace

bool is_hived_yaml(std::string_view text) noexcept {
  return text.rfind("physicalCluster:", 0) == 0 ||
         text.find("\nphysicalCluster:") != std::string_view::npos;
}

Result<Topology> import_hived(const std::string& text, const std::string& file_name) {
  Diagnostics diagnostics(file_name);
  try {
    const std::string stem = std::filesystem::path(file_name).stem().string();
    return HivedReader(stem.empty() ? "hived" : stem, diagnostics).read(YAML::Load(text));
  } catch (const YAML::Exception& e) {
    diagnostics.add({e.mark.line + 1, e.mark.column + 1}, "not valid YAML: " + e.msg);
  }
  return diagnostics.error();
}

}  // namespace starling
