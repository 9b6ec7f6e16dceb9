// SPDX-License-Identifier: Apache-2.0
#include "launch/experiment/grid.h"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <set>

#include "base/counted.h"
#include "base/hash.h"
#include "launch/experiment/prepare.h"
#include "launch/experiment/values.h"
#include "topology/file/load.h"
#include "workload/queue_file.h"

namespace starling {
namespace {

void add(TraceHash& hash, double x) { hash.add(std::bit_cast<std::uint64_t>(x)); }
void add(TraceHash& hash, Duration d) { hash.add(static_cast<std::uint64_t>(d.count())); }

/// Nothing where nothing is said: points of before keep their names.
void add_run(TraceHash& hash, const RunDetails& run) {
  if (!run.any()) return;
  for (const std::uint32_t n : {run.max_servers, run.batch, run.max_batch, run.copies ? 1U : 0U})
    hash.add(std::uint64_t{n});
  add(hash, run.server_cpus);
  add(hash, run.save);
  add(hash, run.restore);
}

std::uint64_t hash_of(const Trace& trace) {
  TraceHash hash;
  for (const TraceJob& job : trace.jobs) {
    const JobSpec& spec = job.spec;
    add(hash, job.submit);
    add(hash, spec.duration);
    for (const std::uint64_t n : {spec.workers, spec.gpus_per_worker, spec.min_workers,
                                  spec.max_workers, static_cast<std::uint32_t>(spec.priority)}) {
      hash.add(n);
    }
    add(hash, spec.cpus_per_worker);
    add(hash, spec.memory_gib_per_worker);
    for (const std::string* text : {&spec.model, &spec.user, &spec.queue}) hash.add(*text);
    for (const std::string& type : spec.gpu_types) hash.add(type);
    add_run(hash, spec.run);
  }
  return hash.value();
}

/// What prepare_jobs makes of a workload, beside the trace.
std::uint64_t hash_of(const WorkloadSource& source, const Trace& trace) {
  TraceHash hash;
  hash.add(hash_of(trace));
  if (source.file.empty()) {
    hash.add(source.generator);
    hash.add(source.jobs);
    add(hash, source.mean_duration_s);
  }
  hash.add(source.gang_max);
  add(hash, source.elastic);
  add(hash, source.duration_min);
  add(hash, source.duration_max);
  hash.add(std::uint64_t{source.draw_models});
  return hash.value();
}

std::uint64_t hash_of(const TopologySource& source, const Topology& topology) {
  TraceHash hash;
  hash.add(to_yaml(topology));
  hash.add(source.gang_max);
  return hash.value();
}

std::string id_of(const Experiment& experiment, const RunPoint& point, std::uint64_t topology,
                  std::uint64_t workload) {
  TraceHash hash;
  hash.add(topology);
  hash.add(workload);
  add(hash, point.load);
  hash.add(point.seed);
  hash.add(point.agents);
  hash.add(point.policy);
  hash.add(knowledge_text(experiment.policies[point.policy_index].durations));
  hash.add(static_cast<std::uint64_t>(experiment.physics));
  add(hash, experiment.straggler_sigma);
  if (!experiment.pairs.empty()) hash.add(experiment.pairs);
  if (experiment.goodput) hash.add(std::string("goodput"));
  if (experiment.links == NetworkKind::flows) hash.add(std::string("flows"));
  if (experiment.links == NetworkKind::phases) hash.add(std::string("phases"));
  if (experiment.queues) hash.add(queue_file_text(*experiment.queues));
  if (experiment.speed.kind != SpeedKind::analytic) hash.add(text_of(experiment.speed));
  const NetworkModel& network = experiment.faults[point.faults_index].network;
  add(hash, network.delay);
  for (const double x : {network.jitter, network.loss, network.duplication, network.reorder})
    add(hash, x);
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, mix64(hash.value()));
  return text;
}

template <class Source>
std::vector<std::uint32_t> chosen(const std::vector<Source>& sources, const std::string& split) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    if (split.empty() || sources[i].split == split) out.push_back(i);
  }
  return out;
}

/// The runs of one pair, which differ in their policy and number of agents.
Status add_pair(const Experiment& experiment, RunPoint point, std::uint64_t topology,
                std::uint64_t workload, std::set<std::string>& ids, std::vector<RunPoint>& points) {
  for (const std::uint32_t agents : experiment.agents) {
    for (std::uint32_t p = 0; p < experiment.policies.size(); ++p) {
      point.agents = agents;
      point.policy_index = p;
      point.label = experiment.policies[p].label;
      point.policy = experiment.policies[p].text;
      point.family = experiment.policies[p].family;
      point.may = experiment.policies[p].may;
      point.knows = knows_text(experiment.policies[p].lengths, experiment.policies[p].durations);
      point.id = id_of(experiment, point, topology, workload);
      if (!ids.insert(point.id).second) {
        return {Errc::invalid, "the run of " + point.label + " on " + point.topology + " with " +
                                   point.workload +
                                   " is in the grid twice under different names; remove one of "
                                   "the equal topologies, workloads, faults or policies"};
      }
      points.push_back(point);
    }
  }
  return done();
}

Status check_size(const Experiment& experiment, const Inputs& inputs) {
  std::uint64_t runs = experiment.policies.size();
  for (const std::size_t n :
       {chosen(experiment.topologies, experiment.split).size(),
        chosen(experiment.workloads, experiment.split).size(), experiment.loads.size(),
        experiment.faults.size(), experiment.seeds.size(), experiment.agents.size()}) {
    runs *= n;
    if (runs > kRunsMax) {
      return {Errc::invalid,
              "the experiment has more than " + counted(kRunsMax, "run") + "; split it"};
    }
  }
  for (const std::uint32_t t : chosen(experiment.topologies, experiment.split)) {
    const std::uint32_t servers = inputs.topologies[t].front().server_count();
    for (const std::uint32_t agents : experiment.agents) {
      if (agents <= servers) continue;
      return {Errc::invalid, "agents: " + counted(agents, "agent") + " cannot share the " +
                                 counted(servers, "server") + " of " +
                                 experiment.topologies[t].name + "; give one per server at most"};
    }
  }
  return done();
}

/// Measured pairs must be of use in some of the runs.
Status check_pairs(const Experiment& experiment, const Inputs& inputs) {
  if (experiment.contention == nullptr) return done();
  for (const std::uint32_t t : chosen(experiment.topologies, experiment.split)) {
    for (const std::uint32_t w : chosen(experiment.workloads, experiment.split)) {
      const Topology& topology = inputs.topologies[t].front();
      const auto jobs = prepare_jobs(inputs.workloads[w], experiment.workloads[w],
                                     experiment.topologies[t], topology, experiment.loads.front(),
                                     experiment.seeds.front(), experiment.physics);
      // What cannot be prepared says so as a run.
      if (!jobs || experiment.contention->measures(topology, jobs.value())) return done();
    }
  }
  return {Errc::invalid, "physics: " + measures_nothing(experiment.pairs).message};
}

}  // namespace

Result<Inputs> open_inputs(const Experiment& experiment) {
  Inputs inputs;
  inputs.topologies.resize(experiment.topologies.size());
  inputs.workloads.resize(experiment.workloads.size());
  for (const std::uint32_t t : chosen(experiment.topologies, experiment.split)) {
    auto topology = open_topology(experiment.topologies[t]);
    if (!topology) return topology.error();
    if (topology.value().gpu_count() == 0)
      return {Errc::invalid, "topology " + experiment.topologies[t].name +
                                 " has no GPU; give a data centre that has some"};
    inputs.topologies[t].push_back(std::move(topology).value());
  }
  for (const std::uint32_t w : chosen(experiment.workloads, experiment.split)) {
    auto trace = open_workload(experiment.workloads[w]);
    if (!trace) return trace.error();
    inputs.workloads[w] = std::move(trace).value();
  }
  if (Status useful = check_pairs(experiment, inputs); !useful) return useful.error();
  return inputs;
}

Result<Trace> jobs_of(const Experiment& experiment, const Inputs& inputs, const RunPoint& point) {
  return prepare_jobs(
      inputs.workloads[point.workload_index], experiment.workloads[point.workload_index],
      experiment.topologies[point.topology_index], inputs.topologies[point.topology_index].front(),
      point.load, point.seed, experiment.physics);
}

Result<std::vector<RunPoint>> expand(const Experiment& experiment, const Inputs& inputs) {
  if (Status good = check_size(experiment, inputs); !good) return good.error();
  std::vector<RunPoint> points;
  std::set<std::string> ids;
  RunPoint point;
  point.split = experiment.split;
  for (const std::uint32_t t : chosen(experiment.topologies, experiment.split)) {
    point.topology_index = t;
    point.topology = experiment.topologies[t].name;
    const std::uint64_t topology = hash_of(experiment.topologies[t], inputs.topologies[t].front());
    for (const std::uint32_t w : chosen(experiment.workloads, experiment.split)) {
      point.workload_index = w;
      point.workload = experiment.workloads[w].name;
      const std::uint64_t workload = hash_of(experiment.workloads[w], inputs.workloads[w]);
      for (const std::uint64_t seed : experiment.seeds) {
        for (const double load : experiment.loads) {
          for (std::uint32_t f = 0; f < experiment.faults.size(); ++f) {
            point.seed = seed;
            point.load = load;
            point.faults_index = f;
            point.faults = experiment.faults[f].name;
            if (Status added = add_pair(experiment, point, topology, workload, ids, points); !added)
              return added.error();
          }
        }
      }
    }
  }
  return points;
}

}  // namespace starling
