// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/run_options.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/counted.h"
#include "interference/measured_physics.h"
#include "interference/pairs/measured_contention.h"
#include "launch/client/placeable.h"
#include "launch/command_line/network_file.h"
#include "launch/command_line/results_folder.h"
#include "launch/experiment/prepare.h"
#include "launch/system/files.h"
#include "launch/system/text.h"
#include "topology/file/load.h"
#include "workload/generate/scale_load.h"
#include "workload/queue_file.h"
#include "workload/traces/trace.h"

namespace starling {
namespace {

Result<TraceOptions> trace_options(const RunOptions& options) {
  TraceOptions trace;
  trace.format = options.format;
  trace.max_jobs = options.jobs;
  trace.load = options.arrival_speed;
  trace.reader = options.trace_reader;
  const auto formats = trace_formats();
  if (!trace.reader && !trace.format.empty() &&
      std::find(formats.begin(), formats.end(), trace.format) == formats.end()) {
    return {Errc::invalid,
            "--format: '" + trace.format + "' is no trace format; give " + joined(formats, ", ")};
  }
  if (!options.from.empty()) {
    auto from = parse_duration(options.from);
    if (!from) return {Errc::invalid, "--from: " + from.error().message};
    trace.from = from.value();
  }
  if (!options.length.empty()) {
    auto length = parse_duration(options.length);
    if (!length) return {Errc::invalid, "--length: " + length.error().message};
    if (length.value() <= Duration{0})
      return {Errc::invalid,
              "--length: '" + options.length + "' leaves no job; give e.g. 36h or 7d"};
    trace.length = length.value();
  }
  return trace;
}

Result<NetworkModel> network_of(const RunOptions& options) {
  const bool full = options.physics.starts_with("full");
  auto network =
      parse_network(options.network.empty() ? (full ? "lan" : "ideal") : options.network);
  if (!network) return {Errc::invalid, "--network: " + network.error().message};
  if (options.faults.empty()) return network;
  return read_network_file(options.faults, network.value());
}

/// The agents can share it.
Status check_data_centre(const RunOptions& options, const Topology& topology) {
  if (options.agents == 0 || options.agents > topology.server_count()) {
    return {Errc::invalid, "--agents: " + counted(options.agents, "agent") + " cannot share " +
                               counted(topology.server_count(), "server") +
                               "; give one per server at most"};
  }
  if (topology.gpu_count() == 0)
    return {Errc::invalid, (options.topology.empty() ? "" : options.topology + ": ") +
                               topology.name() + " has no GPU; give a data centre that has some"};
  return done();
}

Result<Topology> read_data_centre(const RunOptions& options) {
  auto topology = load_topology(options.topology);
  if (!topology) return {Errc::invalid, topology.error().message};
  if (Status right = check_data_centre(options, topology.value()); !right.ok())
    return right.error();
  return topology;
}

/// The folder for results, if one is asked for.
Status make_out(const RunOptions& options) {
  if (options.out.empty()) return done();
  if (const Status free = can_take_results(options.out); !free.ok())
    return {Errc::invalid, "--out: " + free.error().message};
  if (auto made = make_folder(options.out); !made.ok())
    return {Errc::invalid, "--out: " + made.error().message + "; give a folder to write to"};
  if (access(options.out.c_str(), W_OK) != 0)
    return {Errc::invalid, "--out: " + options.out + " cannot be written to; give another folder"};
  return done();
}

}  // namespace

void add_run_options(const Command& command, RunOptions& o) {
  command.option("--topology", o.topology, "FILE",
                 "the data centre: YAML, or a file that can be imported");
  command.option("--trace", o.trace, "FILE", "the jobs: CSV, plain or .gz");
  command.option(
      "--format", o.format, "NAME",
      "of the trace: " + joined(trace_formats(), "|") + "; told from its header otherwise");
  command.option("--policy", o.policy, "NAME[:k=v,..]",
                 "which job runs where and when; see 'starling policies' (default starling)");
  command.option("--agents", o.agents, "N",
                 "schedulers, each with a partition of its own (default 1)", 1U, 4096U);
  command.option("--seed", o.seed, "S", "same seed, same run (default 1)", std::uint64_t{0},
                 ~std::uint64_t{0});
  command.option(
      "--physics", o.physics, "trace|full|measured|dl2",
      "trace: jobs take as long as the trace says; measured: Gavel's job types are as fast as "
      "they were measured on each GPU type; dl2: its models by its own formula; full: speed "
      "depends on placement, with "
      "full:stragglers=0.1 on which workers are slow, too, with full:pairs=FILE[@CAMPAIGN] on "
      "Gavel's pairs as measured (in 2020, or that campaign), with full:goodput on what larger "
      "batches are worth, with full:network=flows on "
      "what gangs send over the links of other racks, with full:network=flows,phases less so");
  command.option("--speed", o.speed, "MODEL",
                 "what policies ask where physics is full: analytic, learned[:FILE], frozen[:FILE] "
                 "(learned, and takes up nothing measured), adaptive[:FILE] (adapts to other "
                 "hardware; FILE: weights or a prior) or physics, the world's own rates (default "
                 "analytic)");
  command.option("--durations", o.durations, "exact|none|noisy:SIGMA",
                 "what the policy may know (default exact)");
  command.option("--load", o.load, "X",
                 "offered load: submissions are moved apart or together until the GPU time asked "
                 "for is X of what there is (default: as in the trace)",
                 0.0);
  command.option("--arrival-speed", o.arrival_speed, "X",
                 "submit times are divided by X (default 1)", 0.0);
  command.option("--jobs", o.jobs, "N", "only the first N jobs", 1U, ~0U);
  command.option("--from", o.from, "TIME", "only jobs submitted from then on: 90s, 36h, 7d");
  command.option("--length", o.length, "TIME", "only jobs submitted within this time from then");
  command.option("--network", o.network, "ideal|lan|FILE",
                 "how messages travel (default ideal; lan with physics full)");
  command.option("--faults", o.faults, "FILE",
                 "YAML: loss, duplication, reorder, jitter, delay_us");
  command.option(
      "--queues", o.queues, "FILE",
      "how many GPUs each queue and user may have (docs/queues.md); jobs of other queues "
      "are refused (default: nothing is limited)");
  command.option("--servers-per-executor", o.servers_per_executor, "N",
                 "default: such that there are at most 16 executors", 1U, 65'536U);
  command.option("--out", o.out, "DIR", "write summary.json, jobs.csv and report.html there");
  command.option("--record", o.record, "FILE.json", "what became of it when, for 'starling view'");
  command.flag("--json", o.json, "only JSON on stdout");
  command.flag("-q,--quiet", o.quiet, "no progress on stderr");
}

Result<Duration> parse_duration(const std::string& text) {
  double unit = 1;
  std::string number = text;
  if (!text.empty()) {
    const std::string units = "smhd";
    const double seconds_of[] = {1, 60, 3600, 86'400};
    if (const auto at = units.find(text.back()); at != std::string::npos) {
      unit = seconds_of[at];
      number.pop_back();
    }
  }
  const auto value = parse_decimal(number);
  if (!value || *value < 0) {
    return {Errc::invalid, "'" + text + "' is no length of time; give e.g. 90s, 15m, 36h or 7d"};
  }
  return from_seconds(*value * unit);
}

Result<DurationKnowledge> parse_durations(const std::string& text) {
  if (text == "exact") return DurationKnowledge{};
  if (text == "none") return DurationKnowledge{DurationKnowledge::none, 0};
  const std::string prefix = "noisy:";
  if (text.rfind(prefix, 0) == 0) {
    const auto sigma = parse_decimal(std::string_view(text).substr(prefix.size()));
    if (sigma && *sigma >= 0) return DurationKnowledge{DurationKnowledge::noisy, *sigma};
  }
  return {Errc::invalid,
          "--durations: '" + text + "' is wrong; give exact, none or noisy:SIGMA with SIGMA >= 0"};
}

Result<NetworkModel> parse_network(const std::string& text) {
  if (text == "ideal") return NetworkModel::ideal();
  if (text == "lan") return NetworkModel::lan();
  return read_network_file(text, NetworkModel::ideal());
}

namespace {

/// What is said of a run beside its files.
struct Choices {
  PhysicsChoice physics;
  std::shared_ptr<const MeasuredContention> contention;
  SpeedChoice speed;
  DurationKnowledge durations;
  NetworkModel network;
};

Result<Choices> read_choices(const RunOptions& options, const PolicyRegistry& policies) {
  auto physics = parse_physics(options.physics);
  if (!physics) return {Errc::invalid, "--physics: " + physics.error().message};
  std::shared_ptr<const MeasuredContention> contention;
  if (!physics.value().pairs.empty()) {
    auto pairs = read_measured_contention(physics.value().pairs);
    if (!pairs) return {Errc::invalid, "--physics: " + pairs.error().message};
    contention = std::move(pairs).value();
  }
  auto speed = parse_speed(options.speed);
  if (!speed) return {Errc::invalid, "--speed: " + speed.error().message};
  if (auto policy = policies.make(options.policy); !policy)
    return {Errc::invalid, "--policy: " + policy.error().message};
  auto durations = parse_durations(options.durations);
  if (!durations) return durations.error();
  auto network = network_of(options);
  if (!network) return network.error();
  return Choices{physics.value(), std::move(contention), speed.value(), durations.value(),
                 network.value()};
}

/// As the options say when and on what they run.
Status fit_jobs(const RunOptions& options, const Choices& choices, const Topology& topology,
                Trace& trace) {
  if (choices.contention && !choices.contention->measures(topology, trace))
    return {Errc::invalid, "--physics: " + measures_nothing(choices.physics.pairs).message};
  if (choices.physics.kind == PhysicsKind::measured) run_as_measured(trace, topology);
  if (options.load > 0 && options.arrival_speed != 1)
    return {Errc::invalid, "--load and --arrival-speed both say when jobs come; give one of them"};
  if (options.load > 0) {
    const double v100s = capacity(topology, choices.physics.kind);
    const double per_gpu = v100s / topology.gpu_count();
    if (Status scaled = scale_to_load(trace, topology.gpu_count(), options.load * per_gpu); !scaled)
      return {Errc::invalid, "--load: " + scaled.error().message};
  }
  return done();
}

SimOptions sim_options(const RunOptions& options, Choices choices, const Topology& topology) {
  SimOptions sim;
  sim.policy = options.policy;
  sim.speed = choices.speed;
  sim.agents = options.agents;
  sim.seed = options.seed;
  sim.physics = choices.physics.kind;
  sim.straggler_sigma = choices.physics.straggler_sigma;
  sim.contention = std::move(choices.contention);
  sim.goodput = choices.physics.goodput;
  sim.links = choices.physics.network;
  sim.durations = choices.durations;
  sim.network = choices.network;
  sim.check = options.check;
  sim.servers_per_executor = options.servers_per_executor != 0
                                 ? options.servers_per_executor
                                 : std::max(8U, (topology.server_count() + 15) / 16);
  return sim;
}

/// The weights that the speed model names can be read.
Status check_speed(const Choices& choices, const Topology& topology) {
  if (auto model = make_speed(choices.speed, topology, nullptr);
      !model && choices.speed.kind == SpeedKind::learned)
    return {Errc::invalid, "--speed: " + model.error().message};
  return done();
}

}  // namespace

Result<RunInput> read_run_input(const RunOptions& options, const PolicyRegistry& policies) {
  if (options.topology.empty())
    return {Errc::invalid, "--topology FILE is missing; 'starling topology generate' makes one"};
  if (options.trace.empty())
    return {Errc::invalid, "--trace FILE is missing; 'starling workload generate' makes one"};
  auto choices = read_choices(options, policies);
  if (!choices) return choices.error();
  auto wanted = trace_options(options);
  if (!wanted) return wanted.error();

  auto topology = read_data_centre(options);
  if (!topology) return topology.error();
  auto trace = read_trace(options.trace, wanted.value());
  if (!trace) return {Errc::invalid, trace.error().message};
  if (trace.value().jobs.empty()) {
    const bool cut = options.jobs > 0 || !options.from.empty() || !options.length.empty();
    return {Errc::invalid,
            options.trace + (cut ? ": no jobs are left to run; check --jobs, --from and --length"
                                 : ": it has no jobs; give a trace with a row for each")};
  }
  if (Status fits = fit_jobs(options, choices.value(), topology.value(), trace.value()); !fits.ok())
    return fits.error();
  if (const Status free = make_out(options); !free.ok()) return free.error();
  if (Status speed = check_speed(choices.value(), topology.value()); !speed.ok())
    return speed.error();
  SimOptions sim = sim_options(options, std::move(choices).value(), topology.value());
  if (!options.queues.empty()) {
    auto queues = read_queue_file(options.queues);
    if (!queues) return {Errc::invalid, "--queues: " + queues.error().message};
    queues.value().version = 1;
    sim.queues = std::move(queues).value();
  }
  return RunInput{std::move(topology).value(), std::move(trace).value(), std::move(sim)};
}

Result<RunInput> make_run_input(const RunOptions& options, const PolicyRegistry& policies,
                                Topology topology, Trace trace) {
  auto choices = read_choices(options, policies);
  if (!choices) return choices.error();
  if (Status right = check_data_centre(options, topology); !right.ok()) return right.error();
  if (trace.jobs.empty()) return {Errc::invalid, trace.name + ": it has no jobs"};
  if (Status fits = fit_jobs(options, choices.value(), topology, trace); !fits.ok())
    return fits.error();
  if (Status speed = check_speed(choices.value(), topology); !speed.ok()) return speed.error();
  SimOptions sim = sim_options(options, std::move(choices).value(), topology);
  return RunInput{std::move(topology), std::move(trace), std::move(sim)};
}

std::string misfits(const Topology& topology, const Trace& trace,
                    const std::optional<QueueTree>& queues) {
  // Traces have many jobs of few shapes.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::vector<std::string>>, Status> shapes;
  std::size_t count = 0;
  std::string first;
  for (const TraceJob& submitted : trace.jobs) {
    const JobSpec& job = submitted.spec;
    const auto [shape, fresh] =
        shapes.try_emplace({job.workers, job.gpus_per_worker, job.gpu_types}, done());
    if (fresh) {
      JobSpec wanted = job;
      if (job.workers == 1) {
        // Traces say nothing of workers: the agents may spread a gang of one over servers.
        std::swap(wanted.workers, wanted.gpus_per_worker);
      }
      shape->second = can_ever_fit(topology, wanted);
    }
    const std::string why = !shape->second.ok() ? shape->second.error().message
                            : queues            ? why_not_queued(*queues, job)
                                                : std::string();
    if (!why.empty() && count++ == 0) first = "job " + job.name + ": " + why;
  }
  if (count == 0) return {};
  return std::to_string(count) + " of " + counted(trace.jobs.size(), "job") +
         " can never run here and will fail; the first is " + first;
}

}  // namespace starling
