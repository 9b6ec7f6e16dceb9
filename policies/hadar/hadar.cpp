// SPDX-License-Identifier: Apache-2.0
#include "policies/hadar/hadar.h"

#include <algorithm>

#include "base/short_number.h"
#include "interference/profile.h"
#include "policies/builtin.h"
#include "policies/elastic/round_memory.h"
#include "policies/parts/evict.h"
#include "policies/parts/restart.h"
#include "scheduling/feedback.h"

namespace starling {
namespace {

constexpr PolicyFacts kHadar{
    .name = "hadar",
    .summary = "by price: each gang where it pays most, on mixed GPU types too, in rounds",
    .family = Family::order,
    .preemptive = true,
    .lengths = LengthSource::estimates,
    .round = std::chrono::seconds(360)};
constexpr PolicyFacts kHadarE{
    .name = "hadare",
    .summary = "hadar, whose jobs may run as averaged copies on several servers",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .lengths = LengthSource::estimates,
    .round = std::chrono::seconds(360)};

}  // namespace

HadarPolicy::HadarPolicy(const HadarOptions& options)
    : options_(options),
      facts_(options.forks ? kHadarE : kHadar),
      rounds_({false, Fit::server}),
      copies_(options.efficiency) {
  facts_.round = options.round;
}

std::vector<Decision> HadarPolicy::decide(const View& all, const Trigger& trigger, Rng&) {
  return rounds_.decide(all, trigger, facts_.round, routing_, [this](const View& view) {
    return Rounds::Steps{
        .observe = [this, &view] { observe(view); },
        .plan = [this, &view](RoundPlan& plan, auto& out) { plan_round(view, plan, out); }};
  });
}

void HadarPolicy::observe(const View& view) {
  progress_.observe(view);
  if (speed_version_ == view.speed.version()) return;
  speed_version_ = view.speed.version();
  paces_.forget();
  copies_.forget();
}

HadarPolicy::Entry HadarPolicy::entry_of(const View& view, const JobView& job) {
  const JobSpec& spec = *job.spec;
  const double round_s = seconds(options_.round);
  Entry entry{&job, {}};
  GangJob& gang = entry.gang;
  gang.workers = spec.workers;
  gang.gpus_per_worker = std::max(spec.gpus_per_worker, 1U);
  gang.each = demand_of(spec);
  gang.paces = &paces_.of(view, rounds_.empty(), spec);
  gang.left = progress_.left_s(spec) / round_s;
  gang.elapsed = seconds(job.age(view.now)) / round_s;
  if (options_.utility == HadarOptions::Utility::throughput)
    gang.weight = gang.left + progress_.done_s(spec.id) / round_s;
  if (options_.utility == HadarOptions::Utility::makespan) gang.weight = gang.left * gang.left;
  gang.restart = restart_cost_s(spec, options_.restart_s) / round_s;
  gang.now = job.placement;
  if (!job.allocation.averaged || !may_fork(spec)) {
    const auto profile = profile_of(spec, static_cast<std::uint32_t>(job.placement.size()));
    if (!job.placement.empty())
      gang.pace_now = progress_rate(view.speed, profile, job.placement, {}, job.allocation);
    return entry;
  }
  // Of copies the fastest one is it; the others come back by ForkedCopies.
  std::map<ServerId, Placement> parts;
  for (const GpuId gpu : job.placement) parts[view.topology.server_of(gpu)].push_back(gpu);
  for (auto& [server, part] : parts) {
    const auto workers = static_cast<std::uint32_t>(part.size()) / gang.gpus_per_worker;
    const double pace = copies_.pace(view, spec, server, workers);
    if (pace <= gang.pace_now) continue;
    gang.pace_now = pace;
    gang.now = std::move(part);
  }
  return entry;
}

bool HadarPolicy::may_fork(const JobSpec& job) const {
  return options_.forks && job.run.copies && !no_copies_.contains(job.id);
}

void HadarPolicy::refused(const Feedback& feedback) {
  const auto* start = std::get_if<Start>(&feedback.decision);
  if (start == nullptr || !start->allocation.averaged) return;
  if (feedback.why == DecisionFault::wrong_size) no_copies_[start->job] = kRoundsWithoutCopies;
}

std::vector<std::string> HadarPolicy::explain(JobId job) const {
  const auto why = why_.find(job);
  return why == why_.end() ? std::vector<std::string>{} : std::vector{why->second};
}

void HadarPolicy::note(const std::vector<Entry>& all, const std::vector<ChosenGang>& chosen) {
  why_.clear();
  for (const Entry& entry : all)
    why_[entry.job->spec->id] = "no GPUs that it could have were left by those that pay more";
  for (const ChosenGang& gang : chosen) {
    const GangOffer& offer = gang.offer;
    std::string line = "payoff " + short_number(offer.payoff()) + ": utility " +
                       short_number(offer.utility) + ", less a price of " +
                       short_number(offer.cost) + " for " + short_number(rounds_of(offer.rest)) +
                       " rounds";
    if (offer.copies) line += ", in " + std::to_string(offer.parts.size()) + " copies";
    why_[all[gang.job].job->spec->id] = line + (offer.stays ? ", where it runs" : "");
  }
}

std::vector<std::byte> HadarPolicy::save(Instant origin) const {
  return save_rounds(rounds_, progress_, origin, {});
}

Status HadarPolicy::restore(std::span<const std::byte> memory, Instant origin) {
  return restore_rounds(memory, origin, rounds_, progress_, [](MemoryReader&) {});
}

void add_hadar(PolicyRegistry& registry) {
  const auto read = [](OptionReader& reader, bool forks) {
    HadarOptions options;
    options.forks = forks;
    options.round = from_seconds(reader.number("round", 360, 1, 86'400, "seconds"));
    options.restart_s =
        reader.number("restart", 10, 0, 86'400,
                      "seconds that starting elsewhere costs a job that does not say it");
    const std::string utility =
        reader.choice("utility", {"jct", "throughput", "makespan"},
                      "of a job that takes C seconds in all: 1/C, its length over C, or what is "
                      "left of it, squared, over C");
    options.utility = utility == "jct"          ? HadarOptions::Utility::jct
                      : utility == "throughput" ? HadarOptions::Utility::throughput
                                                : HadarOptions::Utility::makespan;
    if (forks)
      options.efficiency =
          reader.number("efficiency", 1, 0.01, 1, "progress of a sample where copies are averaged");
    return std::unique_ptr<Policy>(std::make_unique<HadarPolicy>(options));
  };
  registry.add(kHadar, [=](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    return read(reader, false);
  });
  registry.add(kHadarE, [=](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    return read(reader, true);
  });
}

}  // namespace starling
