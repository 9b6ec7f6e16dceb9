// SPDX-License-Identifier: Apache-2.0
#include "sim/summary.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "sim/arrivals.h"
#include "workload/text/csv.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json one_run(const RunResult& run) {
  const RunFigures f = figures(run);
  const bool any = f.finished > 0;
  const auto figure = [any](double value) { return any ? Json(value) : Json(); };
  const bool simulated = run.mode == "sim";
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016" PRIx64, run.trace_hash);

  Json json;
  json["policy"] = run.policy;
  json["family"] = text_or_null(run.family);
  json["topology"] = text_or_null(run.topology);
  json["gpus"] = run.gpus;
  json["servers"] = run.servers;
  json["agents"] = run.agents;
  json["workload"] = text_or_null(run.workload);
  json["load"] = run.load > 0 ? Json(run.load) : Json();
  json["seed"] = run.seed;
  json["mode"] = run.mode;
  json["jobs_submitted"] = f.submitted;
  json["jobs_finished"] = f.finished;
  json["jobs_failed"] = f.failed;
  json["floor_jct_s"] = figure(f.floor_jct_s);
  json["avg_jct_s"] = figure(f.avg_jct_s);
  json["p50_jct_s"] = figure(f.p50_jct_s);
  json["p90_jct_s"] = figure(f.p90_jct_s);
  json["p99_jct_s"] = figure(f.p99_jct_s);
  json["makespan_s"] = figure(f.makespan_s);
  json["avg_queue_s"] = figure(f.avg_queue_s);
  json["avg_slowdown"] = f.avg_slowdown > 0 ? Json(f.avg_slowdown) : Json();
  json["gpu_utilization"] = figure(f.gpu_utilization);
  json["preemptions"] = run.preemptions;
  json["resizes"] = run.resizes;
  json["forwards"] = run.forwards;
  json["cross_partition_gangs"] = run.cross_partition_gangs;
  json["decisions"] = run.decisions;
  json["decision_p50_us"] = run.decisions > 0 ? Json(run.decision_p50_us) : Json();
  json["decision_p99_us"] = run.decisions > 0 ? Json(run.decision_p99_us) : Json();
  json["messages"] = run.messages;
  json["events"] = simulated ? Json(run.events) : Json();
  json["wall_s"] = run.wall_s;
  json["trace_hash"] = simulated ? Json(hash.data()) : Json();
  json["jobs_unfinished"] = f.unfinished;
  json["rows_dropped"] = run.dropped;
  json["duplicate_names"] = f.duplicates;
  json["resolution_s"] = run.resolution_s > 0 ? Json(run.resolution_s) : Json();
  const ArrivalFigures arrivals = arrival_figures(run);
  json["arrivals_s"] = figure(arrivals.arrivals_s);
  json["gpu_utilization_arrivals"] =
      arrivals.gpu_utilization > 0 ? Json(arrivals.gpu_utilization) : Json();
  return json;
}

/// The shortest digits that read back as the same number; empty for "never".
std::string number(double value, bool may_be_never = false) {
  if (may_be_never && value < 0) return "";
  return Json(value).dump();
}

}  // namespace

std::string summary_json(std::span<const RunResult> runs) {
  Json list = Json::array();
  for (const RunResult& run : runs) list.push_back(one_run(run));
  Json whole;
  whole["schema"] = 1;
  whole["runs"] = std::move(list);
  return whole.dump(2) + "\n";
}

Status write_jobs_csv(const std::filesystem::path& file, const RunResult& run) {
  std::string text =
      "job,submit_s,start_s,finish_s,gpus,model,agent,placement,attempts,service_s,state\n";
  std::unordered_map<std::string_view, std::uint64_t> named;
  for (const JobRow& job : run.jobs) {
    std::string name = job.name.empty() ? to_string(job.job) : job.name;
    // A second job of a name is told apart.
    if (const auto nth = ++named[job.name]; nth > 1 && !job.name.empty())
      name += '#' + std::to_string(nth);
    text += csv_field(name) + ',' + number(job.submit_s) + ',' + number(job.start_s, true) + ',' +
            number(job.finish_s, true) + ',' + std::to_string(job.gpus) + ',' +
            csv_field(job.model) + ',' + std::to_string(job.agent) + ',' +
            csv_field(job.placement) + ',' + std::to_string(job.attempts) + ',' +
            number(job.service_s) + ',' + name_of(job.state) + '\n';
  }
  std::FILE* out = std::fopen(file.c_str(), "wb");
  if (out == nullptr) return {Errc::io, "cannot write " + file.string()};
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  if (std::fclose(out) != 0 || !written) return {Errc::io, "cannot write all of " + file.string()};
  return done();
}

}  // namespace starling
