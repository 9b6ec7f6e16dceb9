// SPDX-License-Identifier: Apache-2.0
#include "policies/rank/rank.h"

#include <algorithm>
#include <functional>

#include "interference/profile.h"
#include "policies/builtin.h"
#include "policies/elastic/round_memory.h"
#include "policies/parts/restart.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "rank",
    .summary = "elastic: GPUs to jobs that are frugal with them and keep most others waiting",
    .family = Family::elastic,
    .preemptive = true,
    .elastic = true,
    .lengths = LengthSource::past,
    .round = std::chrono::seconds(120)};

PolicyFacts facts_for(const RankOptions& options, PolicyFacts facts) {
  facts.round = options.round;
  if (options.believes) facts.lengths = LengthSource::estimates_or_past;
  facts.shares_gpus = options.shares;
  facts.preemptive = options.may != MayDo::place;
  facts.elastic = options.may == MayDo::resize;
  facts.needs_running = options.may == MayDo::place;
  return facts;
}

}  // namespace

RankPolicy::RankPolicy(const RankOptions& options, PolicyFacts facts)
    : options_(options),
      facts_(facts_for(options, facts)),
      routing_(facts_.elastic, options.route_power),
      rounds_({false, Fit::server}),
      lengths_(options.believes),
      curves_(facts_.elastic) {}

RankPolicy::RankPolicy(const RankOptions& options) : RankPolicy(options, kFacts) {}

std::vector<Decision> RankPolicy::decide(const View& all, const Trigger& trigger, Rng&) {
  std::optional<Call> call;
  return rounds_.decide(all, trigger, facts_.round, routing_, [&](const View& view) {
    call.emplace(view, std::vector<Known*>{});
    return Rounds::Steps{
        // All of it: of a job that leaves is told next time that it moved, and what it did here is
        // no length.
        .observe = [&] { call->running = observe(all); },
        .plan = [&](RoundPlan& plan, auto& out) { plan_round(*call, plan, out); },
        .between = [&](RoundPlan& plan, auto& out) { between(*call, plan, out); },
        .overflows_between = options_.overflows_between};
  });
}

std::vector<RankPolicy::Known*> RankPolicy::observe(const View& view) {
  if (costs_.empty()) costs_ = type_costs(view.topology, options_.type_power);
  lengths_.observe(view);
  if (shares(view)) rates_.refresh(view.speed);
  known_.begin();
  for (const JobView& job : view.waiting) see(view, job);
  std::vector<Known*> running;
  running.reserve(view.running.size());
  for (const JobView& job : view.running) running.push_back(&see(view, job));
  changed_ |= known_.end([](JobId, const Known&) {}) > 0;
  if (shares(view)) see_neighbours(view, running);
  return running;
}

/// Of a job of the view: those that run are found by their place in it.
RankPolicy::Known& RankPolicy::known_of(const Call& call, const JobView& job) {
  const JobView* first = call.view.running.data();
  const bool runs =
      !std::less<>{}(&job, first) && std::less<>{}(&job, first + call.view.running.size());
  return runs ? *call.running[static_cast<std::size_t>(&job - first)] : known_.at(job.spec->id);
}

RankPolicy::Known& RankPolicy::see(const View& view, const JobView& job) {
  const auto [known, fresh] = known_.see(job.spec->id);
  const bool waits = job.placement.empty();
  if (fresh) {
    known.without_gpus_s = std::max(seconds(job.age(view.now) - job.served), 0.0);
  } else if (known.waits) {
    known.without_gpus_s += std::max(seconds(view.now - known.at), 0.0);
  }
  known.at = view.now;
  known.waits = waits;
  const std::uint64_t model = curves_.version(view);
  if (!known.speeds || known.model != model) {
    known.speeds = curves_.of(view, rounds_.shape(), rounds_.empty(), *job.spec);
    known.model = model;
    known.placement.clear();
  }
  known.beside.reset();
  if (shares(view) && known.kinds != rates_.version()) {
    known.kind = rates_.kind_of(*job.spec);
    known.kinds = rates_.version();
  }
  if (known.placement == job.placement) return known;
  known.placement = job.placement;
  changed_ = true;
  if (waits) return known;
  known.pace = progress_rate(
      view.speed,
      profile_of(*job.spec, static_cast<std::uint32_t>(job.placement.size()), job.allocation),
      job.placement, {}, job.allocation);
  return known;
}

std::vector<std::string> RankPolicy::explain(JobId job) const {
  std::vector<std::string> lines = reasons_.explain(job);
  const Known* known = known_.find(job);
  if (!lines.empty() || known == nullptr || !known->waits) return lines;
  if (known->speeds->never()) return {"policy: none of its sizes can be had of this partition"};
  return {
      "policy: it came after the last round, and nothing was free for it since; the next round "
      "divides all GPUs anew, and it has its part in that"};
}

std::vector<std::byte> RankPolicy::save(Instant origin) const {
  MemoryWriter forecast;
  lengths_.save(forecast, origin);
  return save_rounds(rounds_, lengths_.progress(), origin, forecast.bytes());
}

Status RankPolicy::restore(std::span<const std::byte> memory, Instant origin) {
  ElasticProgress progress;
  Forecast forecast(true);
  Status status = restore_rounds(memory, origin, rounds_, progress,
                                 [&](MemoryReader& in) { forecast.restore(in, origin); });
  if (status) lengths_.resume(std::move(progress), std::move(forecast));
  return status;
}

void add_rank(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    RankOptions options;
    options.round = from_seconds(
        reader.number("round", 120, 1, 86'400,
                      "seconds; running jobs are resized at rounds, and those that have "
                      "waited are given to other partitions"));
    options.believes =
        reader.choice("lengths", {"forecast", "exact"},
                      "how long jobs are taken to be: what others of the same user, queue and gang "
                      "size took; exact: what users say, where they do") == "exact";
    options.restart_s =
        reader.number("restart", 25, 0, 86'400,
                      "seconds that a change of size costs a job that does not say it itself");
    options.type_power = reader.number(
        "types", 0.6, 0, 3,
        "a GPU must be worth as much as a typical job is fast on its type, to this power");
    options.patience_s =
        3600 * reader.number("patience", 48, 0.01, 1e6,
                             "hours without GPUs after which no other passes a job");
    return std::unique_ptr<Policy>(std::make_unique<RankPolicy>(options));
  });
}

}  // namespace starling
