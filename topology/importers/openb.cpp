#include "topology/importers/openb.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/limits.h"
#include "topology/builder.h"
#include "topology/gpu_catalogue.h"
#include "topology/importers/csv_rows.h"

namespace starling {
namespace {

struct Node {
  std::string name;
  double cpus = 0;
  double memory_gib = 0;
  std::uint32_t gpus = 0;
  std::string model;
};

std::vector<Node> read_nodes(const std::string& text, Diagnostics& diagnostics) {
  std::vector<Node> nodes;
  std::unordered_set<std::string> names;
  std::uint64_t gpus_total = 0;
  for (const CsvRow& row : csv_rows(text, kOpenbHeader, diagnostics)) {
    const auto name = csv_name(row, 0, "sn", diagnostics);
    const auto cpu_milli = csv_whole(row, 1, "cpu_milli", 100'000'000, diagnostics);
    const auto memory_mib = csv_whole(row, 2, "memory_mib", 1'000'000'000, diagnostics);
    const auto gpus = csv_whole(row, 3, "gpu", 256, diagnostics);
    if (!name || !cpu_milli || !memory_mib || !gpus) continue;
    if (!names.insert(*name).second) {
      diagnostics.add({row.line, 0}, "sn '" + *name + "' occurs twice; keep one row of it");
    }
    Node node{*name, static_cast<double>(*cpu_milli) / 1000,
              static_cast<double>(*memory_mib) / 1024, static_cast<std::uint32_t>(*gpus), ""};
    if (node.gpus > 0) node.model = csv_name(row, 4, "model", diagnostics).value_or("");
    gpus_total += node.gpus;
    nodes.push_back(std::move(node));
  }
  if (gpus_total > Limits{}.gpus_total || nodes.size() > Limits{}.gpus_total) {
    diagnostics.add({}, "more than " + std::to_string(Limits{}.gpus_total) +
                            " GPUs or servers; import a part of it");
  }
  return nodes;
}

}  // namespace

bool is_openb_header(std::string_view line) noexcept { return line == kOpenbHeader; }

Result<Topology> import_openb(const std::string& text, const std::string& file_name,
                              const OpenbOptions& options) {
  Diagnostics diagnostics(file_name);
  const std::vector<Node> nodes = read_nodes(text, diagnostics);
  if (options.gpus_per_island == 0 || !(options.nic_gbps > 0)) {
    diagnostics.add({}, "GPUs per island and NIC speed must be above 0");
  }
  if (diagnostics.any()) return diagnostics.error();

  TopologyBuilder builder(std::filesystem::path(file_name).stem().string());
  builder.begin_pod();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
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
          known_gpu_type(node.model).value_or(GpuType{node.model, GpuType{}.memory_gib}));
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

}  // namespace starling
