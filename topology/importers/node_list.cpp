// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/node_list.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/limits.h"
#include "topology/builder.h"
#include "topology/gpu_catalogue.h"
#include "topology/importers/csv_rows.h"

namespace starling {
namespace {

// Columns by their number; -1: the column does not exist.
struct Columns {
  const char* header;
  std::size_t name;
  std::size_t model;
  std::size_t gpus;
  std::size_t cpus;
  int memory;
};
constexpr Columns kPai{kPaiHeader, 0, 1, 4, 2, 3};
constexpr Columns kSpot{kSpotHeader, 3, 0, 1, 2, -1};
constexpr double kMemoryGibPerCpu = 8;  // where the list says nothing

Result<Topology> import_columns(const Columns& columns, const std::string& text,
                                const std::string& file_name, const NodeListOptions& options) {
  Diagnostics diagnostics(file_name);
  std::vector<ListedNode> nodes;
  std::unordered_set<std::string> names;
  for (const CsvRow& row : csv_rows(text, columns.header, diagnostics)) {
    const auto name = csv_name(row, columns.name, "the name", diagnostics);
    const auto cpus = csv_whole(row, columns.cpus, "CPUs", 100'000, diagnostics);
    const auto gpus = csv_whole(row, columns.gpus, "GPUs", 256, diagnostics);
    if (!name || !cpus || !gpus) continue;
    if (!names.insert(*name).second) {
      diagnostics.add({row.line, 0}, "'" + *name + "' occurs twice; keep one row of it");
    }
    ListedNode node{*name, static_cast<double>(*cpus), 0, static_cast<std::uint32_t>(*gpus), ""};
    node.memory_gib = node.cpus * kMemoryGibPerCpu;
    if (columns.memory >= 0) {
      node.memory_gib = static_cast<double>(
          csv_whole(row, static_cast<std::size_t>(columns.memory), "memory", 1'000'000, diagnostics)
              .value_or(0));
    }
    if (node.gpus > 0)
      node.model = csv_name(row, columns.model, "GPU type", diagnostics).value_or("");
    nodes.push_back(std::move(node));
  }
  return build_node_list(nodes, file_name, diagnostics, options);
}

}  // namespace

Result<Topology> build_node_list(const std::vector<ListedNode>& nodes, const std::string& file_name,
                                 Diagnostics& diagnostics, const NodeListOptions& options) {
  std::uint64_t gpus = 0;
  for (const ListedNode& node : nodes) gpus += node.gpus;
  if (gpus > Limits{}.gpus_total || nodes.size() > Limits{}.gpus_total) {
    diagnostics.add({}, "more than " + std::to_string(Limits{}.gpus_total) +
                            " GPUs or servers; import a part of it");
  }
  if (options.gpus_per_island == 0 || !(options.nic_gbps > 0)) {
    diagnostics.add({}, "GPUs per island and NIC speed must be above 0");
  }
  if (diagnostics.any()) return diagnostics.error();

  TopologyBuilder builder(std::filesystem::path(file_name).stem().string());
  builder.begin_pod();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ListedNode& node = nodes[i];
    if (options.servers_per_rack == 0 ? i == 0 : i % options.servers_per_rack == 0) {
      builder.begin_rack();
    }
    Server server;
    server.name = node.name;
    server.cpus = node.cpus;
    server.memory_gib = node.memory_gib;
    server.nic_gbps = options.nic_gbps;
    if (node.gpus > 0) {
      server.gpus_per_island = std::min(options.gpus_per_island, node.gpus);
      server.gpu_type = builder.gpu_type(
          gpu_type_in(node.model).value_or(GpuType{node.model, GpuType{}.memory_gib}));
    }
    builder.add_server(std::move(server), node.gpus);
  }
  NetworkPlan plan;
  if (options.servers_per_rack > 0 && nodes.size() > options.servers_per_rack) {
    plan.core_switches = 1;
    plan.core_gbps = options.nic_gbps * options.servers_per_rack;
  }
  return std::move(builder).build(plan);
}

bool is_pai_header(std::string_view line) noexcept { return line == kPaiHeader; }
bool is_spot_header(std::string_view line) noexcept { return line == kSpotHeader; }

Result<Topology> import_pai(const std::string& text, const std::string& file_name,
                            const NodeListOptions& options) {
  return import_columns(kPai, text, file_name, options);
}

Result<Topology> import_spot(const std::string& text, const std::string& file_name,
                             const NodeListOptions& options) {
  return import_columns(kSpot, text, file_name, options);
}

}  // namespace starling
