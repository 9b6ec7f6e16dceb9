// SPDX-License-Identifier: Apache-2.0
#include "topology/importers/openb.h"

#include <unordered_set>

#include "topology/importers/csv_rows.h"

namespace starling {
namespace {

std::vector<ListedNode> read_nodes(const std::string& text, Diagnostics& diagnostics) {
  std::vector<ListedNode> nodes;
  std::unordered_set<std::string> names;
  for (const CsvRow& row : csv_rows(text, kOpenbHeader, diagnostics)) {
    const auto name = csv_name(row, 0, "sn", diagnostics);
    const auto cpu_milli = csv_whole(row, 1, "cpu_milli", 100'000'000, diagnostics);
    const auto memory_mib = csv_whole(row, 2, "memory_mib", 1'000'000'000, diagnostics);
    const auto gpus = csv_whole(row, 3, "gpu", 256, diagnostics);
    if (!name || !cpu_milli || !memory_mib || !gpus) continue;
    if (!names.insert(*name).second) {
      diagnostics.add({row.line, 0}, "sn '" + *name + "' occurs twice; keep one row of it");
    }
    ListedNode node{*name, static_cast<double>(*cpu_milli) / 1000,
                    static_cast<double>(*memory_mib) / 1024, static_cast<std::uint32_t>(*gpus), ""};
    if (node.gpus > 0) node.model = csv_name(row, 4, "model", diagnostics).value_or("");
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace

bool is_openb_header(std::string_view line) noexcept { return line == kOpenbHeader; }

Result<Topology> import_openb(const std::string& text, const std::string& file_name,
                              const NodeListOptions& options) {
  Diagnostics diagnostics(file_name);
  const std::vector<ListedNode> nodes = read_nodes(text, diagnostics);
  return build_node_list(nodes, file_name, diagnostics, options);
}

}  // namespace starling
