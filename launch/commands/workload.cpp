// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/commands/commands.h"
#include "launch/report/workload_page.h"
#include "launch/system/amount.h"
#include "launch/system/files.h"
#include "launch/system/text.h"
#include "workload/stats.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

struct Options {
  std::string file, format, plot;
  std::uint32_t gpus = 0;
  bool json = false;
};

nlohmann::json figures(const Quantiles& q) {
  return {{"min", q.min}, {"p25", q.p25}, {"p50", q.p50}, {"p75", q.p75},  {"p90", q.p90},
          {"p95", q.p95}, {"p99", q.p99}, {"max", q.max}, {"mean", q.mean}};
}

void print_json(const std::string& name, const TraceSummary& s, std::uint32_t gpus) {
  nlohmann::json gangs = nlohmann::json::object();
  for (const auto& [gang, jobs] : s.gangs) gangs[std::to_string(gang)] = jobs;
  nlohmann::json out{{"schema", 1},
                     {"trace", name},
                     {"jobs", s.jobs},
                     {"dropped", s.dropped},
                     {"span_s", s.span_s},
                     {"gpu_hours", s.gpu_hours},
                     {"interarrival_cv", s.interarrival_cv},
                     {"median_duration_s", s.duration_s.p50},
                     {"p99_duration_s", s.duration_s.p99},
                     {"duration_s", figures(s.duration_s)},
                     {"gpus_per_job", figures(s.gpus)},
                     {"gpus", gangs},
                     {"models", s.models}};
  if (gpus > 0) out["load"] = offered_load(s, gpus);
  std::printf("%s\n", out.dump(1).c_str());
}

// By key, or the commonest first and then the many rare ones as one row.
template <class Key>
void print_shares(const std::string& heading, std::vector<std::pair<Key, std::uint64_t>> counts,
                  std::uint64_t jobs, bool by_count) {
  constexpr std::size_t kRows = 30;
  if (by_count) {
    std::stable_sort(counts.begin(), counts.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  }
  std::vector<std::vector<std::string>> rows{{heading, "jobs", "share"}};
  const auto add = [&](const std::string& what, std::uint64_t n) {
    rows.push_back(
        {what, with_commas(n), percent(static_cast<double>(n) / static_cast<double>(jobs))});
  };
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto& [key, n] = counts[i];
    if (by_count && i >= kRows) {
      others += n;
    } else if constexpr (std::is_same_v<Key, std::string>) {
      add(key.empty() ? "(unknown)" : key, n);
    } else {
      add(std::to_string(key), n);
    }
  }
  if (others > 0) add("others", others);
  std::fputs(table_text(rows).c_str(), stdout);
}

void print_text(const std::string& name, const TraceSummary& s, std::uint32_t gpus) {
  const double at_work = s.span_s > 0 ? s.gpu_hours * 3600 / s.span_s : 0;
  std::printf("%s: %s over %s, %s", name.c_str(), amount(s.jobs, "job").c_str(),
              human_seconds(s.span_s).c_str(),
              amount(static_cast<std::uint64_t>(s.gpu_hours), "GPU hour").c_str());
  if (s.span_s > 0) std::printf(" (on average %.1f GPUs at work)", at_work);
  std::printf("\n");
  if (s.dropped > 0)
    std::printf("dropped: %s without GPU or time\n", amount(s.dropped, "row").c_str());
  if (gpus > 0)
    std::printf("load of %s: %.3f\n", amount(gpus, "GPU").c_str(), offered_load(s, gpus));
  const Quantiles& d = s.duration_s;
  std::printf("durations: mean %s, median %s, 90 %% below %s, 99 %% below %s, longest %s\n",
              human_seconds(d.mean).c_str(), human_seconds(d.p50).c_str(),
              human_seconds(d.p90).c_str(), human_seconds(d.p99).c_str(),
              human_seconds(d.max).c_str());
  std::printf("GPUs of a job: mean %.2f, median %.0f, 95 %% at most %.0f, most %.0f\n", s.gpus.mean,
              s.gpus.p50, s.gpus.p95, s.gpus.max);
  std::printf("time between submissions: standard deviation / mean %.2f (1 if random)\n",
              s.interarrival_cv);
  print_shares<std::uint32_t>("GPUs", {s.gangs.begin(), s.gangs.end()}, s.jobs, false);
  std::printf("\n");
  print_shares<std::string>("model", {s.models.begin(), s.models.end()}, s.jobs, true);
}

Status write_plot(const Trace& trace, const Options& options) {
  if (Status s = write_text(options.plot, workload_page(trace, options.gpus)); !s) return s;
  std::fprintf(stderr, "starling: wrote %s\n", options.plot.c_str());
  return done();
}

int show(const Options& options) {
  if (!options.plot.empty()) {
    const std::string where = "workload show: --plot: ";
    if (std::filesystem::path(options.plot).extension() != ".html")
      return bad_input(where + "the plots are a page; '" + options.plot + "' must end in .html");
    if (auto good = check_out_file(options.plot, OutKind::page); !good)
      return bad_input(where + good.error().message);
  }
  TraceOptions how;
  how.format = options.format;
  auto read = read_trace(options.file, how);
  if (!read) {
    const bool missing = !std::filesystem::exists(options.file);
    return bad_input(read.error().message + (missing ? "; give a trace in CSV, plain or .gz" : ""));
  }
  const Trace& trace = read.value();
  if (trace.jobs.empty()) return bad_input(options.file + ": no jobs in it");
  const TraceSummary summary = summarize(trace);
  (options.json ? print_json : print_text)(trace.name, summary, options.gpus);
  std::fflush(stdout);
  if (options.plot.empty()) return kDone;
  const Status written = write_plot(trace, options);
  return written ? kDone : failed(written.error());
}

}  // namespace

void add_workload(const Command& root) {
  const Command command = root.sub("workload", "look at traces, or make one");
  const auto o = std::make_shared<Options>();
  const Command show_command = command.sub("show", "what is in a trace");
  show_command.positional("FILE", o->file, "CSV, plain or .gz");
  show_command.option("--format", o->format, "NAME", "told from its header otherwise");
  show_command.option("--gpus", o->gpus, "N", "also the load that it is for so many GPUs", 1U,
                      1U << 20U);
  show_command.option("--plot", o->plot, "FILE.html",
                      "a page: durations, GPUs, submissions and load over time, users, models");
  show_command.flag("--json", o->json, "only JSON on stdout");
  show_command.examples({"starling workload show trace.csv",
                         "starling workload show trace.csv.gz --gpus 512 --json",
                         "starling workload show trace.csv --plot trace.html"});
  show_command.action([o] { return show(*o); });
  add_workload_generate(command);
}

}  // namespace starling
