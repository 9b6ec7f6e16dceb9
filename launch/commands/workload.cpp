#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "launch/commands/commands.h"
#include "launch/exit_codes.h"
#include "launch/text.h"
#include "workload/generate.h"
#include "workload/trace.h"

namespace starling {
namespace {

struct ShowOptions {
  std::string file, format;
  bool json = false;
};
struct MakeOptions {
  TraceGeneratorOptions trace;
  std::string out;
};

double quantile(std::vector<double> sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

int show(const ShowOptions& options) {
  TraceOptions how;
  how.format = options.format;
  auto read = read_trace(options.file, how);
  if (!read) return bad_input(read.error().message);
  const Trace& trace = read.value();
  if (trace.jobs.empty()) return bad_input(options.file + ": no jobs in it");
  std::vector<double> durations;
  std::map<std::uint32_t, std::uint64_t> sizes;
  double gpu_s = 0;
  for (const TraceJob& job : trace.jobs) {
    const double s = seconds(job.spec.duration);
    durations.push_back(s);
    gpu_s += s * job.spec.gpus();
    ++sizes[job.spec.gpus()];
  }
  std::sort(durations.begin(), durations.end());
  const double span = seconds(trace.jobs.back().submit - trace.jobs.front().submit);
  if (options.json) {
    nlohmann::json histogram = nlohmann::json::object();
    for (const auto& [gpus, jobs] : sizes) histogram[std::to_string(gpus)] = jobs;
    const nlohmann::json out{{"schema", 1},
                             {"trace", trace.name},
                             {"jobs", trace.jobs.size()},
                             {"span_s", span},
                             {"gpu_hours", gpu_s / 3600},
                             {"median_duration_s", quantile(durations, 0.5)},
                             {"p99_duration_s", quantile(durations, 0.99)},
                             {"gpus", histogram}};
    std::printf("%s\n", out.dump(1).c_str());
    return kDone;
  }
  std::printf(
      "%s: %s jobs over %s, %s GPU hours (on average %.1f GPUs at work)\n", trace.name.c_str(),
      with_commas(trace.jobs.size()).c_str(), human_seconds(span).c_str(),
      with_commas(static_cast<std::uint64_t>(gpu_s / 3600)).c_str(), span > 0 ? gpu_s / span : 0.0);
  std::printf("durations: median %s, 90 %% below %s, 99 %% below %s, longest %s\n",
              human_seconds(quantile(durations, 0.5)).c_str(),
              human_seconds(quantile(durations, 0.9)).c_str(),
              human_seconds(quantile(durations, 0.99)).c_str(),
              human_seconds(durations.back()).c_str());
  std::vector<std::vector<std::string>> rows{{"GPUs", "jobs", "share"}};
  for (const auto& [gpus, jobs] : sizes) {
    rows.push_back({std::to_string(gpus), with_commas(jobs),
                    percent(static_cast<double>(jobs) / static_cast<double>(trace.jobs.size()))});
  }
  std::fputs(table_text(rows).c_str(), stdout);
  return kDone;
}

int make(const MakeOptions& options) {
  if (options.out.empty()) return bad_input("workload generate: -o FILE is missing");
  auto trace = generate_trace(options.trace);
  if (!trace) return failed(trace.error());
  if (auto written = write_trace(options.out, trace.value()); !written.ok())
    return failed(written.error());
  std::fprintf(stderr, "%s: %s jobs\n", options.out.c_str(),
               with_commas(trace.value().jobs.size()).c_str());
  return kDone;
}

}  // namespace

void add_workload(const Command& root) {
  const Command command = root.sub("workload", "look at traces, or make one");
  const auto s = std::make_shared<ShowOptions>();
  const Command show_command = command.sub("show", "what is in a trace");
  show_command.positional("FILE", s->file, "CSV, plain or .gz");
  show_command.option("--format", s->format, "NAME", "told from its header otherwise");
  show_command.flag("--json", s->json, "only JSON on stdout");
  show_command.action([s] { return show(*s); });

  const auto m = std::make_shared<MakeOptions>();
  TraceGeneratorOptions& t = m->trace;
  const Command make_command =
      command.sub("generate", "make a trace with the statistics of Microsoft's Philly cluster");
  make_command.option("--jobs", t.jobs, "N", "how many (default 2000)", 1U, 10'000'000U);
  make_command.option("--gpus", t.cluster_gpus, "N",
                      "of the data centre that --load is relative to (default 512)", 1U, 1U << 20U);
  make_command.option("--load", t.load, "X", "GPU time asked for / GPU time there is (default 0.8)",
                      0.0);
  make_command.option("--mean-duration", t.mean_duration_s, "S", "seconds; default: Philly's own",
                      0.0);
  make_command.option("--max-duration", t.max_duration_s, "S", "seconds (default 86400)", 0.0);
  make_command.option("--seed", t.seed, "S", "same seed, same trace (default 1)", std::uint64_t{0},
                      ~std::uint64_t{0});
  make_command.option("-o,--out", m->out, "FILE", "CSV; compressed if it ends in .gz");
  make_command.action([m] { return make(*m); });
}

}  // namespace starling
