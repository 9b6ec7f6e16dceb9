// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/etcd_options.h"
#include "launch/runs/live_run.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"
#include "launch/wiring/wiring.h"
#include "topology/generate/generate.h"
#include "workload/stats.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

struct Options {
  double rate = 500, seconds = 10;
  std::uint32_t agents = 4, servers = 64, gpus = 8, servers_per_executor = 16;
  std::string policy = "consolidate", state;
  EtcdAccess etcd;
  bool json = false, quiet = false;
};

/// Gangs of one GPU that end at once, evenly spaced.
Trace pumped(double rate, double seconds_long) {
  Trace trace;
  trace.name = "pump";
  const auto jobs = static_cast<std::uint64_t>(rate * seconds_long);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    TraceJob job;
    job.submit = from_seconds(static_cast<double>(i) / rate);
    job.spec.id = trace_job_id(i);
    job.spec.name = "pump";
    job.spec.duration = std::chrono::milliseconds(1);
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

int bench_live(const Options& o) {
  GeneratorOptions shape;
  shape.servers = o.servers;
  shape.gpus_per_server = o.gpus;
  auto topology = generate_leaf_spine(shape);
  if (!topology) return failed(topology.error());
  const PolicyRegistry policies = all_policies();
  if (auto policy = policies.make(o.policy); !policy)
    return bad_input("--policy: " + policy.error().message);
  SimOptions sim;
  sim.policy = o.policy;
  sim.agents = o.agents;
  sim.servers_per_executor = o.servers_per_executor;
  const RunInput input{std::move(topology).value(), pumped(o.rate, o.seconds), sim};
  if (input.trace.jobs.empty())
    return bad_input("bench live: --rate times --seconds is below one job");
  catch_stop_signals();
  auto run = run_live(input, policies, {1, o.state, o.etcd, false, o.quiet});
  if (!run) return failed(run.error());

  std::vector<double> latency;
  double last_start = 0;
  for (const JobRow& job : run.value().jobs) {
    if (job.start_s < 0) continue;
    latency.push_back(job.start_s - job.submit_s);
    last_start = std::max(last_start, job.start_s);
  }
  const Quantiles q = quantiles(latency);
  const double per_second = last_start > 0 ? static_cast<double>(latency.size()) / last_start : 0;
  if (o.json) {
    const nlohmann::json out{{"schema", 1},
                             {"offered_per_s", o.rate},
                             {"seconds", o.seconds},
                             {"agents", o.agents},
                             {"jobs", run.value().jobs.size()},
                             {"started", latency.size()},
                             {"gangs_per_s", per_second},
                             {"p50_ms", q.p50 * 1e3},
                             {"p99_ms", q.p99 * 1e3},
                             {"max_ms", q.max * 1e3},
                             {"decision_p99_us", run.value().decision_p99_us},
                             {"messages", run.value().messages}};
    std::printf("%s\n", out.dump(1).c_str());
  } else {
    std::printf(
        "%s of %s gangs started at %.0f per second (offered %.0f), submit to launch p50 %s, p99 "
        "%s, longest %s\n",
        with_commas(latency.size()).c_str(), with_commas(run.value().jobs.size()).c_str(),
        per_second, o.rate, human_seconds(q.p50).c_str(), human_seconds(q.p99).c_str(),
        human_seconds(q.max).c_str());
  }
  return latency.size() == run.value().jobs.size() ? kDone : kWorkFailed;
}

}  // namespace

void add_bench(const Command& root) {
  const Command command = root.sub("bench", "measure this machine");
  const auto o = std::make_shared<Options>();
  const Command live = command.sub(
      "live", "gangs per second, end to end: one-GPU jobs of 1 ms over loopback with CURVE");
  live.option("--rate", o->rate, "R", "jobs offered per second (default 500)", 0.0);
  live.option("--seconds", o->seconds, "S", "for so long (default 10)", 0.0);
  live.option("--agents", o->agents, "N", "default 4", 1U, 4096U);
  live.option("--servers", o->servers, "N", "default 64", 1U, 65'536U);
  live.option("--gpus", o->gpus, "G", "per server (default 8)", 1U, 1024U);
  live.option("--servers-per-executor", o->servers_per_executor, "N", "default 16", 1U, 65'536U);
  live.option("--policy", o->policy, "NAME[:k=v,..]", "default consolidate");
  live.option("--state", o->state, "DIR|etcd[s]://HOSTS",
              "where the journals are; default: a temporary directory");
  add_etcd_options(live, o->etcd);
  live.flag("--json", o->json, "only JSON on stdout");
  live.flag("-q,--quiet", o->quiet, "no progress on stderr");
  live.examples({"starling bench live --rate 500 --seconds 10 --agents 4"});
  live.action([o] { return bench_live(*o); });
}

}  // namespace starling
