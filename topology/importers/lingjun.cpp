// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/lingjun.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_set>
#include <utility>

#include "base/limits.h"
#include "topology/builder.h"
#include "topology/gpu_catalogue.h"
#include "topology/importers/csv_rows.h"

namespace starling {
namespace {

// S2 before S14: shorter labels first, then by letter.
struct ByNumber {
  bool operator()(const std::string& a, const std::string& b) const {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  }
};
using Racks = std::map<std::string, std::vector<std::string>, ByNumber>;  // ASW: hosts
using Pods = std::map<std::string, Racks, ByNumber>;                      // PSW: racks

struct Table {
  Pods pods;
  std::string core;
  std::string second_core;
  std::size_t hosts = 0;
  std::size_t largest_rack = 0;
};

Table read_table(const std::string& text, Diagnostics& diagnostics) {
  Table table;
  std::unordered_set<std::string> names;
  for (const CsvRow& row : csv_rows(text, kLingjunHeader, diagnostics)) {
    const auto host = csv_name(row, 0, "host", diagnostics);
    const auto core = csv_name(row, 1, "DSW", diagnostics);
    const auto pod = csv_name(row, 2, "PSW", diagnostics);
    const auto rack = csv_name(row, 3, "ASW", diagnostics);
    if (!host || !core || !pod || !rack) continue;
    if (!names.insert(*host).second) {
      diagnostics.add({row.line, 0}, "host '" + *host + "' occurs twice; keep one row of it");
    }
    if (table.core.empty()) table.core = *core;
    if (table.core != *core) table.second_core = *core;
    std::vector<std::string>& hosts = table.pods[*pod][*rack];
    hosts.push_back(*host);
    ++table.hosts;
    table.largest_rack = std::max(table.largest_rack, hosts.size());
  }
  return table;
}

}  // namespace

bool is_lingjun_header(std::string_view line) noexcept { return line == kLingjunHeader; }

Result<Topology> import_lingjun(const std::string& text, const std::string& file_name,
                                const LingjunOptions& options) {
  Diagnostics diagnostics(file_name);
  const Table table = read_table(text, diagnostics);
  const auto type = known_gpu_type(options.gpu_type);
  if (!type) diagnostics.add({}, "unknown GPU type '" + options.gpu_type + "'");
  if (options.gpus_per_host == 0 || options.gpus_per_host > 256 || !(options.nic_gbps > 0) ||
      !(options.nvlink_gbps > 0)) {
    diagnostics.add({}, "GPUs per host must be from 1 to 256, link speeds above 0");
  } else if (table.hosts * options.gpus_per_host > Limits{}.gpus_total) {
    diagnostics.add(
        {}, "more than " + std::to_string(Limits{}.gpus_total) + " GPUs; import a part of it");
  }
  if (diagnostics.any()) return diagnostics.error();
  if (!table.second_core.empty()) {
    return Error{Errc::unsupported, file_name + ": two DSWs, '" + table.core + "' and '" +
                                        table.second_core +
                                        "'; import the hosts of one core group at a time"};
  }

  TopologyBuilder builder(std::filesystem::path(file_name).stem().string());
  Server server;
  server.gpu_type = builder.gpu_type(*type);
  server.gpus_per_island = options.gpus_per_host;
  server.cpus = options.cpus;
  server.memory_gib = options.memory_gib;
  server.nic_gbps = options.nic_gbps;
  server.island_gbps = options.nvlink_gbps;
  for (const auto& [pod, racks] : table.pods) {
    builder.begin_pod(pod);
    for (const auto& [rack, hosts] : racks) {
      builder.begin_rack(pod + "-" + rack);
      for (const std::string& host : hosts) {
        server.name = host;
        builder.add_server(server, options.gpus_per_host);
      }
    }
  }
  NetworkPlan plan;
  plan.pod_switches = 1;
  plan.core_switches = 1;
  plan.pod_gbps = options.nic_gbps * static_cast<double>(table.largest_rack);
  plan.core_gbps = plan.pod_gbps * static_cast<double>(table.pods.begin()->second.size());
  for (const auto& [pod, racks] : table.pods) {
    plan.core_gbps = std::max(plan.core_gbps, plan.pod_gbps * static_cast<double>(racks.size()));
  }
  return std::move(builder).build(plan);
}

}  // namespace starling
