// SPDX-License-Identifier: Apache-2.0
#include "sim/published/openb/openb_inputs.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "interference/fit/data_table.h"
#include "sim/published/inputs.h"
#include "topology/file/load.h"

namespace starling {
namespace {

/// "601 815 450": whole numbers below `end`.
Result<std::vector<std::uint32_t>> read_numbers(const std::string& text, std::size_t end,
                                                const std::string& where) {
  std::vector<std::uint32_t> numbers;
  const char* at = text.data();
  const char* const last = at + text.size();
  while (at != last) {
    std::uint32_t number = 0;
    const auto [next, error] = std::from_chars(at, last, number);
    if (error != std::errc{} || number >= end || (next != last && *next != ' '))
      return {Errc::invalid, where + ": write whole numbers below " + std::to_string(end) +
                                 " with a blank between them"};
    numbers.push_back(number);
    at = next == last ? next : next + 1;
  }
  return numbers;
}

Result<DataTable> read_table(const std::filesystem::path& data, const std::string& name,
                             const std::vector<std::string_view>& columns) {
  const auto file = published_file(data, name);
  if (!file) return file.error();
  return DataTable::read(file.value(), columns);
}

Result<std::uint32_t> seed_of(const DataTable& table, std::size_t row) {
  const auto seed = table.number(row, "seed");
  if (!seed) return seed.error();
  return static_cast<std::uint32_t>(seed.value());
}

Result<ClusterSpec> read_cluster(const std::filesystem::path& data) {
  const auto file = published_file(data, "alibaba_openb2023/openb_node_list_all_node.csv");
  if (!file) return file.error();
  const auto topology = load_topology(file.value().string());
  if (!topology) return topology.error();
  auto cluster = cluster_spec(topology.value());
  if (cluster) std::erase_if(cluster.value().nodes, [](const NodeSpec& n) { return n.gpus == 0; });
  return cluster;
}

/// Draws of all lists, without pods yet.
Result<std::vector<OpenbList>> read_lists(const std::filesystem::path& data,
                                          const DataTable& orders) {
  std::vector<OpenbList> lists;
  for (std::size_t row = 0; row < orders.size(); ++row) {
    const std::string& name = orders.text(row, "list");
    if (std::any_of(lists.begin(), lists.end(), [&](const auto& l) { return l.name == name; }))
      continue;
    const auto file = published_file(data, "alibaba_openb2023/openb_pod_list_" + name + ".csv.gz");
    if (!file) return file.error();
    auto pods = read_pods(file.value());
    if (!pods) return pods.error();
    lists.push_back({name, std::move(pods).value().pods, {}});
  }
  return lists;
}

}  // namespace

Result<OpenbInputs> read_openb_inputs(const std::filesystem::path& data) {
  const std::string pods_file = "conformance/openb_fgd_pods.csv.gz";
  const std::string nodes_file = "conformance/openb_fgd_nodes.csv.gz";
  auto cluster = read_cluster(data);
  if (!cluster) return cluster.error();
  const auto orders = read_table(data, pods_file, {"list", "seed", "pods"});
  if (!orders) return orders.error();
  const auto nodes = read_table(data, nodes_file, {"list", "seed", "node_rank"});
  if (!nodes) return nodes.error();
  auto lists = read_lists(data, orders.value());
  if (!lists) return lists.error();
  for (OpenbList& list : lists.value()) {
    for (std::size_t row = 0; row < orders.value().size(); ++row) {
      if (orders.value().text(row, "list") != list.name) continue;
      const auto seed = seed_of(orders.value(), row);
      if (!seed) return seed.error();
      auto pods = read_numbers(orders.value().text(row, "pods"), list.pods.size(),
                               (data / pods_file).string() + ": pods");
      if (!pods) return pods.error();
      list.draws.push_back({seed.value(), std::move(pods).value(), {}});
    }
    for (std::size_t row = 0; row < nodes.value().size(); ++row) {
      if (nodes.value().text(row, "list") != list.name) continue;
      const auto seed = seed_of(nodes.value(), row);
      if (!seed) return seed.error();
      const std::size_t count = cluster.value().nodes.size();
      auto ranks = read_numbers(nodes.value().text(row, "node_rank"), count,
                                (data / nodes_file).string() + ": node_rank");
      if (!ranks) return ranks.error();
      for (OpenbDraw& draw : list.draws)
        if (draw.seed == seed.value()) draw.ranks = ranks.value();
    }
    for (const OpenbDraw& draw : list.draws) {
      if (std::set(draw.ranks.begin(), draw.ranks.end()).size() != cluster.value().nodes.size())
        return {Errc::invalid, (data / nodes_file).string() + ": node_rank of " + list.name +
                                   ", seed " + std::to_string(draw.seed) +
                                   " is not a rank for each node with a GPU"};
    }
  }
  return OpenbInputs{std::move(cluster).value(), std::move(lists).value()};
}

Result<std::vector<PublishedCurve>> read_openb_curves(const std::filesystem::path& data,
                                                      const std::string& measure) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kOpenbPoints; ++i) names.push_back(std::to_string(i));
  std::vector<std::string_view> columns{"list", "policy", "seed"};
  columns.insert(columns.end(), names.begin(), names.end());
  const auto table = read_table(data, "conformance/openb_fgd_" + measure + ".csv.gz", columns);
  if (!table) return table.error();
  std::vector<PublishedCurve> curves;
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    const auto seed = seed_of(table.value(), row);
    if (!seed) return seed.error();
    curves.push_back(
        {table.value().text(row, "list"), table.value().text(row, "policy"), seed.value(), {}});
    for (const std::string& name : names) {
      const auto point = table.value().number(row, name);
      if (!point) return point.error();
      curves.back().points.push_back(point.value());
    }
  }
  return curves;
}

}  // namespace starling
