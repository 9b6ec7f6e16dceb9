// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/output.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "launch/command_line/exit_codes.h"
#include "launch/report/run_page.h"
#include "launch/system/amount.h"
#include "launch/system/files.h"
#include "launch/system/text.h"
#include "sim/arrivals.h"
#include "sim/summary.h"

namespace starling {
namespace {

std::string decimal(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.2f", x);
  return buffer;
}

Status write_results(std::span<const RunResult> runs, const Topology& topology,
                     const std::filesystem::path& dir) {
  if (auto made = make_folder(dir); !made.ok()) return made;
  if (auto s = write_text(dir / "summary.json", summary_json(runs)); !s.ok()) return s;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string suffix = i == 0 ? "" : "-" + runs[i].mode;
    if (auto s = write_jobs_csv(dir / ("jobs" + suffix + ".csv"), runs[i]); !s.ok()) return s;
  }
  const auto labels = run_labels(runs);
  return write_text(dir / "report.html", run_page(runs, labels, topology));
}

}  // namespace

std::vector<std::string> run_labels(std::span<const RunResult> runs) {
  std::vector<std::string> labels;
  for (const RunResult& run : runs) labels.push_back(run.mode == "sim" ? "simulated" : run.mode);
  return labels;
}

std::string results_table(std::span<const RunResult> runs) {
  std::vector<std::vector<std::string>> rows{{""}};
  for (const std::string& label : run_labels(runs)) rows[0].push_back(label);
  std::vector<RunFigures> of_run;  // once: a look at every job of the run
  for (const RunResult& run : runs) of_run.push_back(figures(run));
  const auto row = [&](const char* name, auto cell) {
    rows.push_back({name});
    for (std::size_t i = 0; i < runs.size(); ++i) rows.back().push_back(cell(runs[i], of_run[i]));
  };
  using R = const RunResult&;
  using F = const RunFigures&;
  row("policy", [](R r, F) { return r.policy; });
  row("agents", [](R r, F) { return std::to_string(r.agents); });
  if (std::any_of(runs.begin(), runs.end(), [](R r) { return r.family == "B" && r.agents > 1; }))
    row("order of jobs", [](R r, F) {
      return std::string(r.family == "B" && r.agents > 1 ? "in each partition by itself" : "-");
    });
  row("jobs submitted", [](R, F f) { return with_commas(f.submitted); });
  row("jobs finished", [](R, F f) { return with_commas(f.finished); });
  row("jobs failed", [](R, F f) { return with_commas(f.failed); });
  const auto some = [&](const char* name, auto number) {
    bool any = false;
    for (std::size_t i = 0; i < runs.size(); ++i) any = any || number(runs[i], of_run[i]) > 0;
    if (any) row(name, [&](R r, F f) { return with_commas(number(r, f)); });
  };
  some("jobs that never ended", [](R, F f) { return f.unfinished; });
  some("rows dropped (no GPU or 0 s)", [](R r, F) { return r.dropped; });
  some("jobs of a name used before", [](R, F f) { return f.duplicates; });
  // Of jobs that ended; without any there is no figure, and 0 would be one.
  const auto figure = [&](const char* name, auto text) {
    row(name, [&](R, F f) { return f.finished == 0 ? std::string("-") : text(f); });
  };
  figure("JCT mean", [](F f) { return human_seconds(f.avg_jct_s); });
  figure("JCT p50", [](F f) { return human_seconds(f.p50_jct_s); });
  figure("JCT p90", [](F f) { return human_seconds(f.p90_jct_s); });
  figure("JCT p99", [](F f) { return human_seconds(f.p99_jct_s); });
  figure("JCT floor", [](F f) { return human_seconds(f.floor_jct_s); });
  figure("queueing mean", [](F f) { return human_seconds(f.avg_queue_s); });
  figure("slowdown mean", [](F f) { return decimal(f.avg_slowdown); });
  figure("makespan", [](F f) { return human_seconds(f.makespan_s); });
  figure("GPU utilisation", [](F f) { return percent(f.gpu_utilization); });
  row("  while jobs came", [](R r, F) {
    const double used = arrival_figures(r).gpu_utilization;
    return used > 0 ? percent(used) : std::string("-");
  });
  if (std::any_of(runs.begin(), runs.end(), [](R r) { return r.resolution_s > 0; }))
    row("times are good to", [](R r, F) {
      return r.resolution_s > 0 ? human_seconds(r.resolution_s) : std::string("exact");
    });
  row("forwards", [](R r, F) { return with_commas(r.forwards); });
  row("cross-partition gangs", [](R r, F) { return with_commas(r.cross_partition_gangs); });
  row("preemptions", [](R r, F) { return with_commas(r.preemptions); });
  row("decisions", [](R r, F) { return with_commas(r.decisions); });
  row("decision p50", [](R r, F) { return human_micros(r.decision_p50_us); });
  row("decision p99", [](R r, F) { return human_micros(r.decision_p99_us); });
  row("messages", [](R r, F) { return with_commas(r.messages); });
  row("wall time", [](R r, F) { return human_seconds(r.wall_s); });
  std::string text = table_text(rows);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ArrivalFigures arrivals = arrival_figures(runs[i]);
    if (of_run[i].finished == 0 || !arrivals.short_for_its_load) continue;
    text += "\nThe trace is short for its load: jobs came for " +
            human_seconds(arrivals.arrivals_s) + " of " + human_seconds(of_run[i].makespan_s) +
            "; the rest is a tail in which GPUs idle. A longer trace has less of it.\n";
    break;
  }
  return text;
}

namespace {

/// kDone if every job came to an end and some job ran, else a message and kWorkFailed: the figures
/// leave out those that still wait.
int verdict(std::span<const RunResult> runs, const std::string& misfits) {
  std::size_t waiting = 0, ran = 0, jobs = 0;
  for (const RunResult& run : runs) {
    jobs += run.jobs.size();
    for (const JobRow& job : run.jobs) {
      waiting += terminal(job.state) ? 0 : 1;
      ran += job.start_s >= 0 ? 1 : 0;
    }
  }
  if (jobs > 0 && ran == 0)
    return work_failed("no job could run" + (misfits.empty() ? "" : ": " + misfits));
  if (waiting == 0) return kDone;
  return work_failed(with_commas(waiting) + " of " + amount(jobs, "job") +
                     " never ended; the figures are of the others");
}

}  // namespace

int deliver(std::span<const RunResult> runs, const Topology& topology, const std::string& out,
            bool json, const std::string& misfits) {
  if (json) {
    std::printf("%s\n", summary_json(runs).c_str());
  } else {
    std::fputs(results_table(runs).c_str(), stdout);
  }
  std::fflush(stdout);
  if (out.empty()) return verdict(runs, misfits);
  if (auto written = write_results(runs, topology, out); !written.ok())
    return failed(written.error());
  if (!json)
    std::printf("\nwritten: %s/summary.json, jobs.csv,%s report.html\n", out.c_str(),
                runs.size() > 1 ? " jobs-sim.csv," : "");
  std::fflush(stdout);
  return verdict(runs, misfits);
}

}  // namespace starling
