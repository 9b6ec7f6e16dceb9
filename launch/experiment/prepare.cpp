// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/prepare.h"

#include <algorithm>

#include "base/counted.h"
#include "base/rng.h"
#include "interference/gpu_speed.h"
#include "interference/measured_physics.h"
#include "topology/file/load.h"
#include "workload/catalogue.h"
#include "workload/gavel_throughput.h"
#include "workload/generate/generate.h"
#include "workload/generate/generate_dl2.h"
#include "workload/generate/generate_gavel.h"
#include "workload/generate/generate_helios.h"
#include "workload/generate/scale_load.h"
#include "workload/traces/trace.h"
#include "workload/traces/trace_format.h"

namespace starling {
namespace {

constexpr std::uint64_t kModelStream = 0x6d6f64656c;  // of the seed, apart from the world's own

void lay_out(JobSpec& spec, std::uint32_t gpus, std::uint32_t largest_server) {
  set_gang(spec, gpus);
  if (spec.gpus_per_worker > largest_server) {
    spec.gpus_per_worker = gpus % largest_server == 0 ? largest_server : 1;
    spec.workers = gpus / spec.gpus_per_worker;
  }
  spec.min_workers = std::min(spec.min_workers, spec.workers);
  if (spec.max_workers > 0) spec.max_workers = std::max(spec.max_workers, spec.workers);
}

std::uint32_t largest_server(const Topology& topology) {
  std::uint32_t most = 0;
  for (const Server& server : topology.servers()) most = std::max(most, server.gpus.size());
  return most;
}

void shape_jobs(Trace& trace, const WorkloadSource& workload, const TopologySource& source,
                const Topology& topology) {
  const std::uint32_t server = std::max(1U, largest_server(topology));
  std::uint32_t gang_max = workload.gang_max;
  if (source.gang_max > 0 && (gang_max == 0 || source.gang_max < gang_max))
    gang_max = source.gang_max;
  for (TraceJob& job : trace.jobs) {
    JobSpec& spec = job.spec;
    const std::uint32_t asked = spec.gpus();
    const std::uint32_t gpus = gang_max > 0 ? std::min(asked, gang_max) : asked;
    if (gpus != asked || spec.gpus_per_worker > server) lay_out(spec, gpus, server);
    if (workload.elastic > 0) {
      spec.workers = gpus;
      spec.gpus_per_worker = spec.min_workers = 1;
      spec.max_workers = static_cast<std::uint32_t>(gpus * workload.elastic);
      if (gang_max > 0) spec.max_workers = std::max(gpus, std::min(spec.max_workers, gang_max));
    }
    if (workload.duration_min > Duration::zero())
      spec.duration = std::max(spec.duration, workload.duration_min);
    if (workload.duration_max > Duration::zero())
      spec.duration = std::min(spec.duration, workload.duration_max);
  }
}

// Over Gavel's job types, for only of those is it known how they share a GPU; gangs over those that
// were measured on more than one.
void draw_models(Trace& trace, std::uint64_t seed) {
  std::vector<std::string_view> any;
  std::vector<std::string_view> wide;
  for (const ModelProfile& model : gavel_models()) {
    any.push_back(model.name);
    if (gavel_job_types()[static_cast<std::size_t>(model.gavel_type)].multi_gpu())
      wide.push_back(model.name);
  }
  Rng rng(seed, kModelStream);
  for (TraceJob& job : trace.jobs) {
    const auto& names = job.spec.gpus() > 1 ? wide : any;
    job.spec.model = names[rng.below(static_cast<std::uint32_t>(names.size()))];
  }
}

/// The jobs of a generated workload. Their arrivals are those of `load`, or of 0.8 without one.
Result<Trace> generate_jobs(const WorkloadSource& workload, const Topology& topology, double load,
                            std::uint64_t seed) {
  const auto fill = [&](auto& options) {
    options.seed = seed;
    if (workload.jobs > 0) options.jobs = workload.jobs;
  };
  if (workload.generator == "gavel-continuous") {
    GavelGeneratorOptions options;
    fill(options);
    return generate_gavel_trace(options);
  }
  if (workload.generator == "dl2-like") {
    Dl2GeneratorOptions options;
    fill(options);
    return generate_dl2_trace(options);
  }
  const auto fill_cluster = [&](auto& options) {
    fill(options);
    options.cluster_gpus = topology.gpu_count();
    if (load > 0) options.load = load;
    if (workload.duration_max > Duration::zero())
      options.max_duration_s = seconds(workload.duration_max);
  };
  if (workload.generator == "helios-like") {
    HeliosGeneratorOptions options;
    fill_cluster(options);
    return generate_helios_trace(options);
  }
  TraceGeneratorOptions options;
  fill_cluster(options);
  options.mean_duration_s = workload.mean_duration_s;
  return generate_trace(options);
}

Status check_fit(const Trace& trace, const Topology& topology, const std::string& source) {
  for (const TraceJob& job : trace.jobs) {
    std::uint64_t workers = 0;
    for (const Server& server : topology.servers())
      workers += server.gpus.size() / std::max(1U, job.spec.gpus_per_worker);
    if (workers >= job.spec.workers) continue;
    return {Errc::invalid, "job " + job.spec.name + " asks for " +
                               counted(job.spec.workers, "worker") + " of " +
                               counted(job.spec.gpus_per_worker, "GPU") + ", and " + source +
                               " holds " + std::to_string(workers) +
                               " such workers; give the topology or the workload a gang_max"};
  }
  return done();
}

}  // namespace

Result<Topology> open_topology(const TopologySource& source) {
  if (!source.file.empty()) return load_topology(source.file);
  auto made = generate(source.generator, source.options);
  if (!made) return {made.error().code, "topology " + source.name + ": " + made.error().message};
  return made;
}

Result<Trace> open_workload(const WorkloadSource& source) {
  if (source.file.empty()) return Trace{source.name, {}, 0};
  TraceOptions options;
  options.format = source.format;
  options.max_jobs = source.jobs;
  options.from = source.from;
  options.length = source.length;
  auto trace = read_trace(source.file, options);
  if (!trace) return trace;
  if (trace.value().jobs.empty()) {
    return {Errc::invalid, "workload " + source.name + ": no job of " + source.file +
                               " lies in its window; check origin, from and length"};
  }
  return trace;
}

double capacity(const Topology& topology, PhysicsKind physics) {
  if (physics == PhysicsKind::trace || physics == PhysicsKind::dl2) return topology.gpu_count();
  double v100s = 0;
  for (const Server& server : topology.servers()) {
    if (server.gpus.size() == 0) continue;
    v100s +=
        server.gpus.size() * gpu_speed_factor(topology.gpu_types()[server.gpu_type.value].name);
  }
  return v100s;
}

Result<Trace> prepare_jobs(const Trace& base, const WorkloadSource& workload,
                           const TopologySource& source, const Topology& topology, double load,
                           std::uint64_t seed, PhysicsKind physics) {
  Trace trace = base;
  if (workload.file.empty()) {
    auto made = generate_jobs(workload, topology, load, seed);
    if (!made)
      return {made.error().code, "workload " + workload.name + ": " + made.error().message};
    trace = std::move(made).value();
  }
  trace.name = workload.name;
  if (trace.jobs.empty()) return {Errc::invalid, "workload " + workload.name + " has no jobs"};
  shape_jobs(trace, workload, source, topology);
  if (workload.draw_models) draw_models(trace, seed);
  if (physics == PhysicsKind::measured) run_as_measured(trace, topology);
  if (load > 0) {
    const double per_gpu = capacity(topology, physics) / topology.gpu_count();
    if (Status scaled = scale_to_load(trace, topology.gpu_count(), load * per_gpu); !scaled)
      return {Errc::invalid, "workload " + workload.name + ": " + scaled.error().message};
  }
  if (Status fits = check_fit(trace, topology, source.name); !fits) return fits.error();
  return trace;
}

}  // namespace starling
