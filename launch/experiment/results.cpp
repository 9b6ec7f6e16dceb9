// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/results.h"

#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "launch/report/page.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kDrawnMax = 400;  // with their shorter Gantt charts below 15 MB of page

Json to_json(const Interval& x) {
  return {{"mean", x.mean}, {"half95", x.n > 1 ? Json(x.half) : Json()}, {"n", x.n}};
}

Json to_json(const ComparisonRow& row) {
  return {{"policy", row.label},
          {"agents", row.agents},
          {"family", std::string(1, static_cast<char>(row.family))},
          {"may", words(row.may)},
          {"knows", row.knows},
          {"best", row.best},
          {"baseline", row.baseline},
          {"by_partition", row.by_partition},
          {"avg_jct_s", to_json(row.jct_s)},
          {"p99_jct_s", to_json(row.p99_jct_s)},
          {"gpu_utilization", to_json(row.utilization)},
          {"under_baseline_s", to_json(row.less_s)},
          {"under_baseline_share", to_json(row.less_share)},
          {"excess_removed", row.excess_removed ? Json(*row.excess_removed) : Json()},
          {"unfinished_jobs", row.unfinished}};
}

Json to_json(const ComparisonTable& table) {
  Json rows = Json::array();
  for (const ComparisonRow& row : table.rows) rows.push_back(to_json(row));
  Json gaps = Json::object();
  for (const auto& [workload, some] : table.gaps)
    gaps[workload] = {{"rows_dropped", some.dropped}, {"duplicate_names", some.duplicates}};
  return {
      {"family", table.family ? Json(std::string(1, static_cast<char>(*table.family))) : Json()},
      {"family_name", family_text(table.family)},
      {"topology", table.topology},
      {"load", table.load > 0 ? Json(table.load) : Json()},
      {"faults", table.faults.empty() ? Json() : Json(table.faults)},
      {"pairs", table.pairs},
      {"left_out", table.left_out},
      {"floor_jct_s", to_json(table.floor_s)},
      {"bound_jct_s", table.bound_s.n > 0 ? to_json(table.bound_s) : Json()},
      {"gaps", gaps},
      {"rows", rows}};
}

Json comparisons(const Results& results) {
  Json tables = Json::array();
  for (const ComparisonTable& table : results.tables) tables.push_back(to_json(table));
  return tables;
}

Json runs_of(const Results& results) {
  Json runs = Json::array();
  for (const RunRecord& record : results.records) runs.push_back(Json::parse(record.summary));
  return runs;
}

/// The runs whose curves the page draws.
Json cells(const Results& results) {
  Json out = Json::array();
  for (const RunRecord& record : results.records) {
    if (record.curves.empty()) continue;
    const RunPoint& point = record.fact.point;
    const Json summary = Json::parse(record.summary);
    out.push_back({{"policy", point.label},
                   {"agents", point.agents},
                   {"topology", point.topology},
                   {"load", point.load > 0 ? Json(point.load) : Json()},
                   {"faults", point.faults.empty() ? Json() : Json(point.faults)},
                   {"workload", point.workload},
                   {"seed", point.seed},
                   {"gpus", summary.at("gpus")},
                   {"curves", Json::parse(record.curves)}});
  }
  return out;
}

}  // namespace

Result<Results> read_results(const std::filesystem::path& dir) {
  auto manifest = read_manifest(dir / "experiment.json");
  if (!manifest)
    return {Errc::invalid,
            manifest.error().message + "; give a folder that 'starling experiment' wrote"};
  Results results;
  results.manifest = std::move(manifest).value();
  std::set<std::tuple<std::string, double, std::string, std::string, std::uint32_t>> drawn;
  for (const RunPoint& point : results.manifest.runs) {
    const std::filesystem::path file = dir / "runs" / (point.id + ".json");
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
      ++results.missing;
      continue;
    }
    auto record = read_record(file, point);
    if (!record)
      return {Errc::invalid, record.error().message + "; delete it and go on with --resume"};
    const bool first =
        drawn.emplace(point.topology, point.load, point.faults, point.label, point.agents).second;
    if (first && drawn.size() > kDrawnMax) ++results.undrawn;
    if (!first || drawn.size() > kDrawnMax) record.value().curves.clear();
    results.records.push_back(std::move(record).value());
  }
  std::vector<RunFact> facts;
  for (const RunRecord& record : results.records) facts.push_back(record.fact);
  results.tables = compare(facts, results.manifest.baseline, results.manifest.together);
  return results;
}

std::string summary_of(const Results& results) {
  return Json{{"schema", 1}, {"runs", runs_of(results)}}.dump(1) + "\n";
}

std::string results_json(const Results& results) {
  return Json{{"schema", 1},
              {"experiment", results.manifest.name},
              {"split", results.manifest.split.empty() ? Json() : Json(results.manifest.split)},
              {"missing", results.missing},
              {"comparisons", comparisons(results)},
              {"runs", runs_of(results)}}
             .dump(1) +
         "\n";
}

std::string experiment_page(const Results& results) {
  const Manifest& manifest = results.manifest;
  const Json data{{"page", "experiment"},
                  {"name", manifest.name},
                  {"description", manifest.description},
                  {"notes", manifest.notes},
                  {"split", manifest.split},
                  {"physics", manifest.physics},
                  {"runs", results.records.size()},
                  {"missing", results.missing},
                  {"undrawn", results.undrawn},
                  {"tables", comparisons(results)},
                  {"table_notes", table_notes(results.tables)},
                  {"cells", cells(results)}};
  return fill_page(kExperimentPage, data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

Status write_results(const std::filesystem::path& dir, const Results& results) {
  if (Status s = write_whole(dir / "summary.json", summary_of(results)); !s) return s;
  if (Status s = write_whole(
          dir / "table.md",
          tables_markdown(results.manifest.name, results.tables, results.manifest.notes));
      !s)
    return s;
  if (Status s = write_whole(dir / "table.csv", tables_csv(results.tables)); !s) return s;
  if (Status s = write_jobs_table(dir, results); !s) return s;
  return write_whole(dir / "report.html", experiment_page(results));
}

}  // namespace starling
