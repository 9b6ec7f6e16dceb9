// SPDX-License-Identifier: Apache-2.0
#include "interference/fit/data_table.h"
#include "sim/published/inputs.h"
#include "sim/published/pollux/step_tables.h"

namespace starling {
namespace {

using Tables = std::map<std::string, StepTables>;

/// Nodes and replicas where a file has them, local batch, step, sync.
struct StepRow {
  std::uint32_t nodes = 0, replicas = 0, local = 0;
  MeasuredStep step;
};

Result<StepRow> read_row(const DataTable& table, std::size_t row) {
  StepRow out;
  const auto whole = [&](std::string_view column, std::uint32_t& to) -> Status {
    if (!table.has(column)) return done();
    const auto value = table.number(row, column);
    if (!value) return value.error();
    if (!(value.value() >= 1 && value.value() < 1e7))
      return {Errc::invalid, std::string(column) + " is not in 1 to 10,000,000"};
    to = static_cast<std::uint32_t>(value.value());
    return done();
  };
  if (auto good = whole("num_nodes", out.nodes); !good) return good.error();
  if (auto good = whole("num_replicas", out.replicas); !good) return good.error();
  if (auto good = whole("local_bsz", out.local); !good) return good.error();
  const auto step = table.number(row, "step_time");
  if (!step) return step.error();
  const auto sync = table.number(row, "sync_time");
  if (!sync) return sync.error();
  out.step = {step.value(), sync.value()};
  return out;
}

template <class Add>
Status read_file(const std::filesystem::path& data, std::string_view name,
                 const std::vector<std::string_view>& needs, Add add) {
  const auto file = published_file(data, name);
  if (!file) return file.error();
  const auto table = DataTable::read(file.value(), needs);
  if (!table) return table.error();
  for (std::size_t row = 0; row < table.value().size(); ++row) {
    const auto read = read_row(table.value(), row);
    if (!read)
      return {read.error().code, file.value().string() + ": row " + std::to_string(row + 1) + ": " +
                                     read.error().message};
    add(table.value(), row, read.value());
  }
  return done();
}

}  // namespace

Result<Tables> read_step_tables(const std::filesystem::path& data) {
  Tables tables;
  const std::vector<std::string_view> placed = {"application", "placement", "local_bsz",
                                                "step_time", "sync_time"};
  const std::vector<std::string_view> counted = {"application", "num_nodes", "num_replicas",
                                                 "local_bsz",   "step_time", "sync_time"};
  Status good = read_file(data, "pollux/placements.csv", placed,
                          [&](const DataTable& table, std::size_t row, const StepRow& read) {
                            tables[table.text(row, "application")].add_placement(
                                table.text(row, "placement"), read.local, read.step);
                          });
  if (!good) return good.error();
  good = read_file(data, "pollux/scalability.csv", counted,
                   [&](const DataTable& table, std::size_t row, const StepRow& read) {
                     tables[table.text(row, "application")].add_scaling(read.nodes, read.replicas,
                                                                        read.local, read.step);
                   });
  if (!good) return good.error();
  good = read_file(data, "conformance/pollux_interpolated.csv.gz", counted,
                   [&](const DataTable& table, std::size_t row, const StepRow& read) {
                     tables[table.text(row, "application")].add_interpolated(
                         read.nodes, read.replicas, read.local, read.step);
                   });
  if (!good) return good.error();
  for (auto& [application, table] : tables) table.finish();
  return tables;
}

}  // namespace starling
