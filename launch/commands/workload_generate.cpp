// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <string_view>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/kinds.h"
#include "launch/command_line/out_file.h"
#include "launch/commands/commands.h"
#include "launch/system/amount.h"
#include "launch/system/text.h"
#include "workload/generate/generate.h"
#include "workload/generate/generate_dl2.h"
#include "workload/generate/generate_gavel.h"
#include "workload/generate/generate_helios.h"
#include "workload/generate/scale_load.h"
#include "workload/generate/trace_kinds.h"
#include "workload/stats.h"
#include "workload/traces/trace_csv.h"

namespace starling {
namespace {

/// Zeros stand for what the kind says itself.
struct Options {
  std::string kind = "philly-like", out;
  std::uint32_t jobs = 0, gpus = 0, max_burst = HeliosGeneratorOptions{}.max_burst;
  double load = 0.8, target_load = 0, mean_duration_s = 0, max_duration_s = 0;
  double jobs_per_hour = GavelGeneratorOptions{}.jobs_per_hour;
  bool single_gpu = false, force = false;
  std::uint64_t seed = 1;
};

const std::vector<KindOption>& kind_options() {
  static const std::vector<KindOption> options{
      {"--gpus", {"philly-like", "helios-like", "gavel-continuous", "dl2-like"}},
      {"--load", {"philly-like", "helios-like"}},
      {"--target-load", {"philly-like", "helios-like", "gavel-continuous", "dl2-like"}},
      {"--mean-duration", {"philly-like"}},
      {"--max-duration", {"philly-like", "helios-like"}},
      {"--max-burst", {"helios-like"}},
      {"--jobs-per-hour", {"gavel-continuous"}},
      {"--single-gpu", {"gavel-continuous", "gavel-static"}}};
  return options;
}

Result<Trace> make_philly(const Options& o) {
  TraceGeneratorOptions t;
  if (o.jobs > 0) t.jobs = o.jobs;
  if (o.gpus > 0) t.cluster_gpus = o.gpus;
  if (o.max_duration_s > 0) t.max_duration_s = o.max_duration_s;
  t.load = o.load;
  t.mean_duration_s = o.mean_duration_s;
  t.seed = o.seed;
  return generate_trace(t);
}

Result<Trace> make_helios(const Options& o) {
  HeliosGeneratorOptions t;
  if (o.jobs > 0) t.jobs = o.jobs;
  if (o.gpus > 0) t.cluster_gpus = o.gpus;
  if (o.max_duration_s > 0) t.max_duration_s = o.max_duration_s;
  t.load = o.load;
  t.max_burst = o.max_burst;
  t.seed = o.seed;
  return generate_helios_trace(t);
}

Result<Trace> make_gavel(const Options& o) {
  GavelGeneratorOptions t;
  if (o.jobs > 0) t.jobs = o.jobs;
  t.jobs_per_hour = o.kind == "gavel-static" ? 0 : o.jobs_per_hour;
  t.multi_gpu = !o.single_gpu;
  t.seed = o.seed;
  return generate_gavel_trace(t);
}

Result<Trace> make_dl2(const Options& o) {
  Dl2GeneratorOptions t;
  if (o.jobs > 0) t.jobs = o.jobs;
  t.seed = o.seed;
  return generate_dl2_trace(t);
}

Result<Trace> make_kind(const Options& o) {
  if (o.kind == "dl2-like") return make_dl2(o);
  if (o.kind == "philly-like") return make_philly(o);
  return o.kind == "helios-like" ? make_helios(o) : make_gavel(o);
}

std::uint32_t cluster_gpus(const Options& o) {
  if (o.gpus > 0) return o.gpus;
  if (o.kind == "dl2-like") return 26;  // of its testbed
  return o.kind == "helios-like" ? HeliosGeneratorOptions{}.cluster_gpus
                                 : TraceGeneratorOptions{}.cluster_gpus;
}

std::optional<std::string> contradiction(const Command& command, const Options& o) {
  if (command.given("--target-load") && command.given("--load"))
    return "--load and --target-load exclude each other";
  if (o.kind == "dl2-like" && command.given("--gpus") && !command.given("--target-load"))
    return "--kind dl2-like: --gpus N is for --target-load X, which is missing";
  if (o.kind != "gavel-continuous") return std::nullopt;
  if (command.given("--target-load") && command.given("--jobs-per-hour"))
    return "--jobs-per-hour and --target-load exclude each other";
  if (command.given("--target-load") != command.given("--gpus"))
    return "--kind gavel-continuous: --target-load X and --gpus N need each other";
  return std::nullopt;
}

int make(const Command& command, const Options& o) {
  const std::string where = "workload generate: ";
  if (const auto wrong = wrong_for_kind(command, o.kind, kTraceKinds, kind_options()))
    return bad_input(where + *wrong);
  if (const auto wrong = contradiction(command, o)) return bad_input(where + *wrong);
  if (o.out.empty()) return bad_input(where + "-o FILE is missing");
  auto made = make_kind(o);
  if (!made) return bad_input(where + made.error().message);
  Trace& trace = made.value();
  if (o.target_load > 0) {
    if (auto scaled = scale_to_load(trace, cluster_gpus(o), o.target_load); !scaled.ok())
      return bad_input(where + scaled.error().message);
  }
  if (auto good = check_edited_file(o.out, trace_csv(trace), o.force); !good)
    return bad_input(where + "-o: " + good.error().message);
  if (auto written = write_trace(o.out, trace); !written.ok()) return failed(written.error());
  const TraceSummary summary = summarize(trace);
  std::fprintf(stderr, "%s: %s over %s, %s\n", o.out.c_str(), amount(summary.jobs, "job").c_str(),
               human_seconds(summary.span_s).c_str(),
               amount(static_cast<std::uint64_t>(summary.gpu_hours), "GPU hour").c_str());
  return kDone;
}

}  // namespace

void add_workload_generate(const Command& workload) {
  const auto o = std::make_shared<Options>();
  const Command command =
      workload.sub("generate", "make a trace with the statistics of a known one");
  command.option("--kind", o->kind, "NAME",
                 "philly-like (default; Microsoft's cluster), helios-like (SenseTime's), "
                 "gavel-continuous, gavel-static or dl2-like (DL2's testbed)");
  command.option(
      "--jobs", o->jobs, "N",
      "how many (default 2000 of philly-like, 1000 of gavel-..., 5000 of helios-like, 30 of "
      "dl2-like)",
      1U, 10'000'000U);
  command.option(
      "--gpus", o->gpus, "N",
      "of the data centre that a load is relative to (default 512, of helios-like 1024, of "
      "dl2-like 26)",
      1U, 1U << 20U);
  command.option(
      "--load", o->load, "X",
      "philly-like, helios-like: GPU time asked for / GPU time there is, about (default 0.8)", 0.0);
  command.option("--target-load", o->target_load, "X",
                 "the same, met exactly: the submissions are moved apart or together", 0.0);
  command.option("--mean-duration", o->mean_duration_s, "S",
                 "philly-like: seconds; default: Philly's own", 0.0);
  command.option("--max-duration", o->max_duration_s, "S",
                 "seconds (default 86400 of philly-like, 604800 of helios-like)", 0.0);
  command.option("--max-burst", o->max_burst, "N", "helios-like: equal jobs in a row (default 717)",
                 1U, 10'000'000U);
  command.option("--jobs-per-hour", o->jobs_per_hour, "X",
                 "gavel-continuous: Poisson arrivals (default 5.6)", 0.0);
  command.flag("--single-gpu", o->single_gpu, "gavel-...: no jobs on 2, 4 or 8 GPUs");
  command.option("--seed", o->seed, "S", "same seed, same trace (default 1)", std::uint64_t{0},
                 ~std::uint64_t{0});
  command.option("-o,--out", o->out, "FILE", "CSV; compressed if it ends in .gz");
  command.flag("--force", o->force, kForceHelp);
  command.examples(
      {"starling workload generate --jobs 2000 --gpus 512 --load 1.2 -o trace.csv",
       "starling workload generate --kind gavel-continuous --gpus 108 --target-load 0.9 -o "
       "trace.csv.gz",
       "starling workload generate --kind helios-like --gpus 1024 --seed 7 -o trace.csv"});
  command.action([command, o] {
    if (const std::string_view name = renamed_kind(o->kind); !name.empty()) {
      std::fprintf(stderr, "starling: --kind %s is called %s now\n", o->kind.c_str(),
                   std::string(name).c_str());
      o->kind = name;
    }
    return make(command, *o);
  });
}

}  // namespace starling
