// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/simulated/simulated_load.h"

#include <algorithm>

#include "workload/traces/trace.h"

namespace starling::chaos_live {
namespace {

/// A load that is bounded by what has not ended looks again so often.
constexpr double kPoll_s = 0.05;
/// What is left behind is gone well before an owner counts its executor's jobs as gone.
constexpr double kStay_s = 20;

}  // namespace

starling::Manners SimulatedLoad::manners() const {
  const std::vector<Manner>& all = scenario_.load.manners;
  const auto share = [&all](std::initializer_list<Manner> of) {
    const auto n = std::count_if(all.begin(), all.end(), [&of](Manner manner) {
      return std::find(of.begin(), of.end(), manner) != of.end();
    });
    return static_cast<double>(n) / static_cast<double>(all.size());
  };
  starling::Manners manners;
  manners.seed = scenario_.seed;
  manners.deaf = share({Manner::deaf});
  manners.fails = share({Manner::fail, Manner::fail_one});
  manners.stays =
      share({Manner::child, Manner::session, Manner::daemon, Manner::escape, Manner::chain});
  if (manners.stays > 0) manners.stay = from_seconds(kStay_s);
  return manners;
}

Duration SimulatedLoad::serial() const {
  double jobs = scenario_.load.jobs_per_s * scenario_.length;
  for (const FaultSpec& spec : scenario_.faults) {
    if (spec.kind == LiveFaultKind::storm)
      jobs += scenario_.load.jobs_per_s * spec.lasts.most * spec.value("times", 20);
  }
  return from_seconds(jobs * scenario_.load.seconds.most);
}

void SimulatedLoad::arrive(World& world) {
  const LoadSpec& load = scenario_.load;
  if (load.jobs_per_s <= 0) return;
  double wait_s = kPoll_s;
  if (load.outstanding == 0 || jobs_ - world.users().counts().over() < load.outstanding) {
    submit(world, draw_.next());
    wait_s = draw_.gap(load.jobs_per_s * factor_);
  }
  const Instant next = world.now() + from_seconds(wait_s);
  if (next < Instant(from_seconds(scenario_.length)))
    world.at(next, [this](World& w) { arrive(w); });
}

void SimulatedLoad::submit(World& world, const DrawnJob& drawn) {
  JobSpec spec;
  spec.id = trace_job_id(jobs_++);
  spec.name = "chaos-" + std::to_string(jobs_);
  spec.workers = drawn.workers;
  spec.gpus_per_worker = drawn.gpus;
  spec.duration = from_seconds(drawn.seconds);
  const JobId id = spec.id;
  const auto after = [&world](const std::optional<double>& s, auto what) {
    if (s) world.at(world.now() + from_seconds(*s), what);
  };
  // What was cancelled before it left has no home, and is to have none.
  after(drawn.again_after, [spec, home = drawn.home](World& w) {
    if (w.users().find(spec.id)->sent) w.ask(AgentId{home}, Submit{spec, client_node(0)});
  });
  after(drawn.cancel_after, [id](World& w) { w.cancel(id); });
  after(drawn.ask_after, [id](World& w) { w.ask(w.users().find(id)->home, Query{id}); });
  world.submit(std::move(spec), AgentId{drawn.home}, from_seconds(drawn.seconds));
}

}  // namespace starling::chaos_live
