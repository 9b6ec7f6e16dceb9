// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos/chaos_input.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "policies/variants.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

std::string draw_policy(const PolicyRegistry& policies, Rng& rng) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : policies.entries()) {
    // This run is given no model file.
    if (!entry.facts.needs_model_file) names.push_back(name);
  }
  return quick_form(names[rng.below(static_cast<std::uint32_t>(names.size()))]);
}

TraceJob draw_job(std::uint32_t number, std::uint32_t gpus, Rng rng) {
  static constexpr const char* kModels[] = {"", "resnet50", "vgg16"};
  TraceJob job;
  job.spec.id = trace_job_id(number);
  job.spec.name = "j" + std::to_string(number);
  job.spec.model = kModels[rng.below(3)];
  // Most gangs are small; one in ten may need everything there is.
  job.spec.workers = rng.chance(0.1) ? 1 + rng.below(gpus) : std::min(gpus, 1U << rng.below(5));
  if (rng.chance(0.02)) {
    job.spec.workers = gpus + 1;  // refused for good
  } else if (rng.chance(0.2)) {
    job.spec.min_workers = 1;
    job.spec.max_workers = std::min(gpus, 2 * job.spec.workers);
  }
  job.spec.duration = from_seconds(1 + 200 * rng.uniform() * rng.uniform());
  return job;
}

/// Mostly little of what the servers of site() have; now and then as much as `most` of it.
void draw_means(JobSpec& spec, double most, Rng rng) {
  const auto part = [&](double of) {
    return rng.chance(0.6) ? std::ceil(of * most * rng.uniform() * rng.uniform()) : 0;
  };
  spec.cpus_per_worker = part(GeneratorOptions{}.cpus);
  spec.memory_gib_per_worker = part(GeneratorOptions{}.memory_gib);
}

/// Most jobs can do with one worker, and use up to twice as many as they ask for.
void draw_sizes(JobSpec& spec, std::uint32_t gpus, Rng rng) {
  if (spec.elastic() || spec.workers > gpus || !rng.chance(0.7)) return;
  spec.min_workers = 1;
  spec.max_workers = std::min(gpus, 2 * spec.workers);
}

/// Some wait for one that came before, some for their time, some have less time than they need. No
/// job waits for one that is refused for good.
void draw_terms(std::vector<TraceJob>& jobs, std::uint32_t gpus, Rng rng) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Rng own = rng.fork(i);
    JobTerms& terms = jobs[i].spec.terms;
    if (own.chance(0.1)) terms.begin = from_seconds(60 * own.uniform());
    if (own.chance(0.05)) terms.time_limit = from_seconds(0.5 * seconds(jobs[i].spec.duration));
    if (i == 0 || !own.chance(0.3)) continue;
    const JobSpec& other = jobs[own.below(static_cast<std::uint32_t>(i))].spec;
    if (other.workers > gpus) continue;
    const auto how = own.chance(0.6)   ? After::How::any
                     : own.chance(0.7) ? After::How::ok
                                       : After::How::not_ok;
    terms.after.push_back({how, other.id});
  }
}

/// A policy that changes sizes, made to decide wrongly, may leave a job at its least one.
Duration longest(const JobSpec& job, bool elastic) {
  if (!elastic || job.min_workers == 0) return job.duration;
  return from_seconds(seconds(job.duration) * job.workers / std::min(job.workers, job.min_workers));
}

/// Each job has random numbers of its own, so that with fewer of them the rest stays.
Trace draw_jobs(std::uint32_t gpus, const ChaosOptions& options, ChaosFaults& faults,
                bool all_remembered, Rng& rng) {
  Trace trace;
  trace.name = "chaos";
  const std::uint32_t drawn = 30 + rng.below(121);
  const double longer = faults.knobs().jobs;
  // Fewer long ones, or the seed takes as many times longer.
  const auto fewer = static_cast<std::uint32_t>(drawn / std::max(1.0, longer));
  const std::uint32_t jobs = options.jobs > 0 ? options.jobs : std::max(20U, fewer);
  const bool once = rng.fork(jobs).chance(0.15);
  const double means = faults.means();
  const bool sizes = faults.sizes();
  QueueDraw* const queues = faults.queues(gpus);
  const double span_s = faults.herd() ? 0 : 0.8 * seconds(faults.last());
  for (std::uint32_t i = 0; i < jobs; ++i) {
    Rng own = rng.fork(i);
    TraceJob job = draw_job(i, gpus, own.fork(1));
    job.submit = from_seconds(span_s * own.uniform());
    job.spec.no_requeue = once && own.fork(2).chance(0.3);
    if (means > 0) draw_means(job.spec, means, own.fork(3));
    if (sizes) draw_sizes(job.spec, gpus, own.fork(4));
    if (queues != nullptr) queues->name(job.spec, own.fork(5));
    if (longer != 1) job.spec.duration = from_seconds(longer * seconds(job.spec.duration));
    trace.jobs.push_back(std::move(job));
  }
  std::sort(trace.jobs.begin(), trace.jobs.end(),
            [](const TraceJob& a, const TraceJob& b) { return a.submit < b.submit; });
  // How a job ended has to be known for as long as others wait for it.
  if (all_remembered && faults.terms()) draw_terms(trace.jobs, gpus, rng.fork(jobs + 1));
  return trace;
}

}  // namespace

Result<ChaosInput> draw_chaos_input(
    std::uint64_t seed, const PolicyRegistry& policies, const ChaosOptions& options, Rng rng,
    const std::function<ChaosFaults&(std::uint32_t agents, std::uint32_t executors_each)>&
        draw_faults) {
  SimOptions sim;
  sim.seed = seed;
  sim.check = true;
  sim.network = NetworkModel::lan();
  sim.agents = 2 + rng.below(4);
  std::uint32_t executors_each = 1 + rng.below(3);
  if (options.agents > 0) sim.agents = options.agents;
  if (options.executors_each > 0) executors_each = options.executors_each;
  sim.servers_per_executor = 1 + rng.below(2);
  const std::string drawn = draw_policy(policies, rng);
  sim.policy = options.policy.empty() ? drawn : options.policy;
  sim.recorder = options.recorder;
  sim.physics = rng.chance(0.25) ? PhysicsKind::full : PhysicsKind::trace;
  sim.durations.kind = static_cast<DurationKnowledge::Kind>(rng.below(3));
  sim.durations.sigma = 1;

  ChaosFaults& faults = draw_faults(sim.agents, executors_each);
  faults.tighten(sim.limits);
  sim.clients = faults.clients();
  sim.known_lives = faults.known_lives();
  sim.timers = faults.knobs().timers;
  if (faults.gossip()) sim.flood_most = 1;
  sim.wrap_policy = [&faults](AgentId agent, std::unique_ptr<Policy> good, auto stall) {
    return faults.faulty_policy(agent, std::move(good), std::move(stall));
  };

  const std::uint32_t rack = executors_each * sim.servers_per_executor;
  const std::uint32_t gpus = 1U << (1 + rng.below(3));
  const auto site = [&](std::uint32_t gpus_per_server) {
    return generate_leaf_spine({.servers = sim.agents * rack,
                                .gpus_per_server = gpus_per_server,
                                .servers_per_rack = rack});
  };
  auto topology = site(gpus);
  if (!topology) return topology.error();
  auto wrong = site(rng.chance(0.5) ? 2 * gpus : gpus / 2);
  if (!wrong) return wrong.error();
  const bool all_remembered = sim.limits.archive_chunk_bytes == Limits{}.archive_chunk_bytes;
  Trace trace = draw_jobs(topology.value().gpu_count(), options, faults, all_remembered, rng);
  Duration serial{0};
  const auto policy = policies.make(sim.policy);
  if (!policy) return policy.error();
  const bool elastic = policy.value()->facts().elastic || faults.sizes();
  for (const TraceJob& job : trace.jobs) serial += longest(job.spec, elastic);
  return ChaosInput{std::move(topology).value(),
                    std::move(wrong).value(),
                    std::move(trace),
                    std::move(sim),
                    executors_each,
                    serial};
}

}  // namespace starling
