// SPDX-License-Identifier: Apache-2.0
#include "policies/sia/sia.h"

#include <algorithm>

#include "policies/builtin.h"
#include "policies/parts/restart.h"
#include "scheduling/policy_memory.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "sia",
    .summary = "elastic: an integer program gives each job a GPU type, a size and a batch",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .rebatches = true,
    .reads_pace = true,
    .round = std::chrono::seconds(60)};

PolicyFacts facts_for(const SiaOptions& options) {
  PolicyFacts facts = kFacts;
  facts.round = options.round;
  facts.rebatches = options.goodputs.rebatches;
  facts.reads_pace = options.goodputs.measured;
  return facts;
}

}  // namespace

SiaPolicy::SiaPolicy(const SiaOptions& options)
    : sia_(options),
      facts_(facts_for(options)),
      rounds_({false, Fit::server}),
      goodputs_(options.goodputs) {}

std::vector<Decision> SiaPolicy::decide(const View& all, const Trigger& trigger, Rng&) {
  return rounds_.decide(all, trigger, facts_.round, routing_, [this](const View& view) {
    return Rounds::Steps{
        .observe = [this, &view] { observe(view); },
        .plan = [this, &view](RoundPlan& plan, auto& out) { plan_round(view, plan, out); }};
  });
}

void SiaPolicy::see(const JobView& job, Instant now) {
  const auto [at, fresh] = known_.try_emplace(job.spec->id);
  Known& known = at->second;
  known.seen = true;
  const auto gpus = static_cast<std::uint32_t>(job.placement.size());
  if (gpus > known.most) known.most = gpus, ++grown_;
  if (!fresh && known.placement == job.placement && known.allocation == job.allocation) return;
  known.placement = job.placement;
  known.allocation = job.allocation;
  known.since = now;
}

void SiaPolicy::observe(const View& view) {
  goodputs_.observe(view, rounds_.empty());
  for (auto& [job, known] : known_) known.seen = false;
  for (const auto jobs : {view.waiting, view.running}) {
    for (const JobView& job : jobs) see(job, view.now);
  }
  std::erase_if(known_, [](const auto& entry) { return !entry.second.seen; });
}

double SiaPolicy::factor_of(const JobView& job, Instant now) const {
  const double age = seconds(job.age(now)), cost = restart_cost_s(*job.spec, sia_.restart_s);
  return age < cost ? 1 : restart_factor(age, job.restarts * cost, cost);
}

std::vector<std::string> SiaPolicy::explain(JobId job) const {
  return reasons_.explain(job, sia_.objective);
}

std::vector<std::byte> SiaPolicy::save(Instant origin) const {
  constexpr std::size_t kBytesOfJob = 24;
  MemoryWriter curves;
  goodputs_.save(curves);
  MemoryWriter out;
  rounds_.save(out, origin);
  const std::size_t used = out.bytes().size() + sizeof(std::uint64_t) + curves.bytes().size();
  std::size_t left = (kMostPolicyMemory - std::min(used, kMostPolicyMemory)) / kBytesOfJob;
  left = std::min({left, kMostKnown, known_.size()});
  out.word(left);
  for (auto at = known_.begin(); left > 0; --left, ++at)
    out.job(at->first), out.word(at->second.most);
  std::vector<std::byte> all = out.take();
  all.insert(all.end(), curves.bytes().begin(), curves.bytes().end());
  return all;
}

Status SiaPolicy::restore(std::span<const std::byte> memory, Instant origin) {
  constexpr std::uint64_t kMostGpus = 1U << 20U;
  MemoryReader in(memory);
  const auto began = Rounds::read_began(in, origin);
  std::map<JobId, Known> known;
  for (std::size_t jobs = in.count(kMostKnown, 3); jobs > 0 && in.ok(); --jobs) {
    const JobId job = in.job();
    const std::uint64_t most = in.word();
    if (most > kMostGpus) in.fail();
    known[job].most = static_cast<std::uint32_t>(most);
  }
  if (in.ok()) goodputs_.restore(in);
  if (!in.whole()) return {Errc::invalid, "it is no account of Sia's jobs"};
  rounds_.resume(began);
  known_ = std::move(known);
  return done();
}

void add_sia(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    SiaOptions options;
    options.round = from_seconds(reader.number("round", 60, 1, 86'400,
                                               "seconds; jobs that have waited are given to other "
                                               "partitions at rounds alone"));
    options.objective.power = reader.number(
        "p", -0.5, -10, -0.001, "of a job's goodput in the objective: the lower, the fairer");
    options.objective.idle = reader.number("lambda", 1.1, 1.001, 1000,
                                           "what a job that waits costs; one that runs on its "
                                           "smallest size costs 1, if that is 1 GPU");
    options.restart_s =
        reader.number("restart", 30, 0, 86'400,
                      "seconds that a change of size costs a job that does not say it itself");
    options.goodputs.rebatches =
        reader.choice("batch", {"free", "asked"},
                      "free: of elastic jobs whose noise is known also the batch is chosen") ==
        "free";
    options.goodputs.measured =
        reader.choice("knows", {"measured", "model"},
                      "how fast a job is at any size: the curve fitted to what it was measured at, "
                      "or what the speed model says") == "measured";
    return std::unique_ptr<Policy>(std::make_unique<SiaPolicy>(options));
  });
}

}  // namespace starling
