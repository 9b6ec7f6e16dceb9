// SPDX-License-Identifier: Apache-2.0
#include "policies/placement/placement_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "policies/partitions/gang_sharing.h"
#include "policies/queues/queue_place.h"

namespace starling {

namespace {

/// What a gang over several partitions must add to share GPUs, in that of one in a single
/// partition: owners do not know how those fare together that it joins, and none joins it in its
/// turn. By runs of training weeks (docs/decisions.md).
constexpr double kGangGain = 2;

/// A chooser that goes by more than the score sees shared places, too, where free ones slow no job.
PlacementRules rules_of(const PlacementSystem& system, bool chooser) {
  PlacementRules rules = system.scorer->rules();
  if (!system.forwards_by_speed) rules.minimum_gain.reset();
  if (chooser && rules.shared == SharedPlaces::if_slowed) rules.shared = SharedPlaces::always;
  return rules;
}

}  // namespace

PlacementPolicy::PlacementPolicy(PlacementSystem system, Chooser* chooser)
    : PlacementPolicy(system, rules_of(system, chooser != nullptr), chooser) {}

PlacementPolicy::PlacementPolicy(PlacementSystem& system, const PlacementRules& rules,
                                 Chooser* chooser)
    : facts_(system.facts),
      order_(system.order),
      rules_(rules),
      walk_(
          system.queue, [](const JobView&) { return std::int64_t{0}; },
          rules.by_fit ? system.queue.fit : Fit::count,
          [this](const JobSpec& job) { return fits_empty(job); }),
      scorer_(std::move(system.scorer)),
      chooser_(chooser),
      follow_(rules_.forecasts || chooser != nullptr || order_ == PlacementOrder::forecast),
      shares_gangs_(system.shares_gangs && facts_.shares_gpus && rules_.minimum_gain.has_value()),
      candidates_(follow_),
      remaining_(order_ == PlacementOrder::forecast),
      lister_(rules_),
      rooms_(system.may) {
  facts_.orders = order_ == PlacementOrder::forecast;
  if (follow_ && facts_.lengths == LengthSource::none)
    facts_.lengths = LengthSource::estimates_or_past;
}

std::vector<Decision> PlacementPolicy::decide(const View& given, const Trigger&, Rng&) {
  const View view = scorer_->seen(given);
  Candidates candidates = look(view);
  if (rules_.minimum_gain) forwarding_.begin(view);
  const bool idle = view.gpus.free_count() == 0 && !candidates.room_to_share() &&
                    !forwarding_.any() && !rooms_.may().any();
  QueueWalk::Steps steps;
  if (rules_.evens_out) {
    steps.before = [&](std::vector<Decision>& out) {
      walk_.overflow().forward_to_emptier(view, walk_.index(), walk_.taken(), out);
    };
  }
  steps.start = [&](Trial& trial, std::vector<Decision>& out) {
    candidates.plan_on(trial.gpus(), walk_.shape());
    const RoomCall call{view, walk_, candidates, trial, out};
    if (rooms_.may().any()) rooms_.begin(call);
    start_here(view, candidates, trial, out);
    if (rooms_.may().any()) make_room(call);
  };
  if (forwarding_.any()) {
    steps.route_overflow = [&](Trial& trial, std::vector<Decision>& out) {
      route_overflow(view, candidates, trial, out);
    };
  }
  std::vector<Decision> out = walk_.decide(view, idle, steps);
  if (rooms_.may().resizes && out.empty()) grow(view, candidates, out);
  scorer_->end(view, candidates);
  return out;
}

bool read_shares_gangs(OptionReader& reader) {
  return reader.choice("gangs", {"free", "shared"},
                       "shared: a gang over several partitions may share GPUs with jobs that run "
                       "there, as one in a single partition does") == "shared";
}

void read_may(OptionReader& reader, PlacementSystem& system) {
  const std::string may =
      reader.choice("may", {"place", "order", "resize"},
                    "order: jobs stop for one of a higher priority that finds no place; resize: "
                    "elastic ones also start smaller than they ask, and grow to that");
  system.may = {.stops = may != "place", .resizes = may == "resize"};
  system.facts.preemptive = system.may.stops;
  system.facts.elastic = system.may.resizes;
}

PlacementOrder read_placement_order(OptionReader& reader, PlacementOrder otherwise) {
  constexpr const char* kHelp =
      "which job is asked about first; forecast: by the GPU time that others of the same user, "
      "queue and gang size took";
  const std::string order = otherwise == PlacementOrder::arrival
                                ? reader.choice("order", {"arrival", "forecast"}, kHelp)
                                : reader.choice("order", {"forecast", "arrival"}, kHelp);
  return order == "arrival" ? PlacementOrder::arrival : PlacementOrder::forecast;
}

bool PlacementPolicy::fits_empty(const JobSpec& job) {
  if (rules_.by_fit) return walk_.find_place(walk_.empty(), job).has_value();
  return candidates_.fits(job, walk_.empty()) &&
         (!demand_of(job).any() ||
          place(walk_.empty(), walk_.shape(), job, Fit::count).has_value());
}

std::span<const std::size_t> PlacementPolicy::in_order(Instant now) {
  const auto queue = walk_.index().queue();
  positions_.resize(queue.size());
  std::iota(positions_.begin(), positions_.end(), 0U);
  if (order_ == PlacementOrder::arrival) return positions_;
  areas_.resize(queue.size());
  for (std::size_t i = 0; i < queue.size(); ++i)
    areas_[i] = queue[i].gpus * remaining_.left(walk_.index().job(queue[i]), now);
  std::ranges::stable_sort(positions_, [&](std::size_t a, std::size_t b) {
    return std::tie(queue[b].priority, areas_[a]) < std::tie(queue[a].priority, areas_[b]);
  });
  return positions_;
}

bool PlacementPolicy::asks_first(const JobView& a, const JobView& b, Instant now) const {
  if (order_ == PlacementOrder::arrival) return goes_before(a, 0, b, 0);
  const auto area = [&](const JobView& job) {
    return job.spec->gpus() * remaining_.left(job, now);
  };
  return goes_before(a, area(a), b, area(b));
}

std::vector<std::string> PlacementPolicy::explain_now(const View& view, const JobView& job) const {
  if (!job.placement.empty() || !explain(job.spec->id).empty()) return {};
  return {place_in_queue(*this, view, job,
                         order_ == PlacementOrder::arrival
                             ? "submission"
                             : "the GPU time that it is expected to take still"),
          "  its options have not been weighed: nothing is free, a job just like it found nothing "
          "and nothing has changed since, or one ahead holds it back"};
}

std::uint64_t PlacementPolicy::length_of(std::size_t position) {
  if (order_ == PlacementOrder::arrival) return 1;
  const double left = areas_[position] / walk_.index().queue()[position].gpus;
  return std::uint64_t{1} << static_cast<unsigned>(std::clamp(std::ilogb(left) / 2, 0, 63));
}

void PlacementPolicy::passed_over(const QueueEntry& entry) {
  scorer_->passed_over(entry);
  if (chooser_ != nullptr) chooser_->passed_over(entry);
}

PlacementPolicy::Choice PlacementPolicy::choose(DecisionPoint& point) {
  point.options = lister_.list(point, *scorer_);
  scores_.assign(point.options.size(), 0);
  const Scored scored = scorer_->score(point, scores_);
  if (point.forced()) return {};
  return {take(point, scored, chooser_ != nullptr), scored};
}

PlacementOption PlacementPolicy::take(const DecisionPoint& point, const Scored& said,
                                      bool asks_chooser) {
  const std::size_t taken = asks_chooser ? chooser_->choose(point, scores_) : best_of(scores_);
  const double work_s = follow_ ? remaining_.left(point.job, point.view.now) : 0;
  const bool scored = rules_.co_allocates || point.options.front().kind != OptionKind::co_allocate;
  const std::string_view remark = scored && taken == best_of(scores_) ? said.remark : "";
  reasons_.note(point.job.spec->id, point.view.now, work_s, point.options, scores_, taken, scored,
                remark);
  return point.options[taken];
}

DecisionContext PlacementPolicy::context_of(const View& view, Candidates& candidates,
                                            const Trial& trial) {
  return {view,          candidates,    remaining_,   forwarding_,
          walk_.index(), walk_.empty(), trial.gpus(), walk_.shape()};
}

void PlacementPolicy::start_here(const View& view, Candidates& candidates, Trial& trial,
                                 std::vector<Decision>& out) {
  const DecisionContext context = context_of(view, candidates, trial);
  scorer_->begin(context);
  if (chooser_ != nullptr) chooser_->begin(context);
  refused_.resize(walk_.index().looks());
  refused_here_.resize(walk_.index().looks());
  const bool together = forwarding_.any();
  Given given{0, static_cast<double>(walk_.index().total_gpus())};
  const auto queue = walk_.index().queue();
  for (const std::size_t i : in_order(view.now)) {
    const QueueEntry& entry = queue[i];
    if (walk_.taken()[i]) continue;
    // Those that have moved as often have as many ways left, but for which exactly refused them.
    const std::uint64_t version = candidates.version() + forwarding_.version();
    const JobView* job = nullptr;
    if (together) job = &walk_.index().job(entry);
    const std::uint64_t state =
        together ? (version << 12U) + std::min(job->forwards, 4095U) : version;
    const std::uint64_t length = length_of(i);
    const bool hope =
        (!entry.infeasible || together) && !refused_[entry.look].stands(state, length);
    if (!hope && !walk_.options().strict) {
      passed_over(entry);
      continue;
    }
    if (job == nullptr) job = &walk_.index().job(entry);
    if (job->blocked) continue;
    if (hope) {
      const PlacementRequest request = candidates.request(*job->spec, entry.look);
      DecisionPoint point{context, request, *job, {}};
      if (together && given.forwarded < kForwardsPerCall)
        point.out = ways_out(point, entry, given, destinations_);
      // The places here are those that it has refused, so only another agent can be news.
      const std::uint64_t here = candidates.version() * 2 + (point.out.any() ? 1 : 0);
      if (together && refused_here_[entry.look].stands(here, length) && scorer_->alike(*job) &&
          point.better_elsewhere(*rules_.minimum_gain, std::nullopt) == nullptr) {
        passed_over(entry);
        continue;
      }
      if (carry_out(choose(point), point, entry, given, trial, out)) {
        walk_.taken().mark(i);
        continue;
      }
      if (scorer_->alike(*job) && !point.out.later) refused_[entry.look].add(state, length);
      refused_here_[entry.look].add(here, length);
    }
    passed_over(entry);
    // A gang that no data centre of this size can hold must not stop everyone for good.
    if (walk_.options().strict && entry.gpus <= view.topology.gpu_count()) return;
  }
}

WaysOut PlacementPolicy::ways_out(const DecisionPoint& point, const QueueEntry& entry,
                                  const Given& given, std::vector<Destination>& memory) {
  WaysOut out;
  memory.clear();
  out.tries = point.candidates.sharing() && forwarding_.may_try(point.job);
  out.queue = given.waiting_gpus / std::max(1U, point.view.gpus.gpus().size());
  const JobProfile& profile = point.candidates.residents().profile(point.request.profile);
  out.later = forwarding_.find(point.view, entry, point.job, point.request, profile,
                               *rules_.minimum_gain, memory);
  out.destinations = memory;
  return out;
}

bool PlacementPolicy::carry_out(const Choice& choice, const DecisionPoint& point,
                                const QueueEntry& entry, Given& given, Trial& trial,
                                std::vector<Decision>& out) {
  const PlacementOption& option = choice.option;
  if (option.kind == OptionKind::wait) return false;
  if (option.kind == OptionKind::forward) {
    forwarding_.forward(point.view, point.job, *option.destination, out);
    ++given.forwarded;
  } else {
    const Demand each = demand_of(*point.job.spec);
    std::optional<Placement> placement = option.place->placement;
    if (!trial.gpus().has_means(*placement, each))
      placement = point.candidates.with_means(point.request);
    if (!placement) return false;
    trial.take(*placement, each);
    scorer_->took(point, choice.scored, *placement);  // options stand until the job has its place
    point.candidates.start(point.job, *placement);
    out.emplace_back(Start{point.job.spec->id, std::move(*placement)});
  }
  given.waiting_gpus -= entry.gpus;
  return true;
}

void PlacementPolicy::route_overflow(const View& view, Candidates& candidates, Trial& trial,
                                     std::vector<Decision>& out) {
  gangs_.begin(view.now);
  const DecisionContext context = context_of(view, candidates, trial);
  const auto queue = walk_.index().queue();
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const QueueEntry& entry = queue[i];
    if (walk_.taken()[i] || entry.gpus == 1) continue;
    if (!entry.infeasible && view.now - entry.submitted < kPatience) continue;
    const JobView& job = walk_.index().job(entry);
    if (job.blocked) continue;
    if (!co_allocate(context, entry, job, false, trial, out) &&
        !co_allocate(context, entry, job, true, trial, out))
      continue;
    walk_.taken().mark(i);
    return;
  }
}

bool PlacementPolicy::co_allocate(const DecisionContext& context, const QueueEntry& entry,
                                  const JobView& job, bool shares, Trial& trial,
                                  std::vector<Decision>& out) {
  if (shares ? !shares_gangs_ || entry.gpus <= walk_.shape().largest_server ||
                   !context.candidates.sharing() || !gangs_.may_ask_to_share(entry)
             : !gangs_.may_ask(entry))
    return false;
  const PlacementRequest request = context.candidates.request(*job.spec, entry.look);
  DecisionPoint point{context, request, job, {}};
  point.options = lister_.list_co_allocation(point, entry, shares);
  if (point.options.empty()) return false;
  scores_.assign(point.options.size(), 0);
  Scored said;
  if (rules_.co_allocates) {
    said = scorer_->score(point, scores_);
  } else {
    scores_.back() = Scorer::kLast;
  }
  const PlacementOption option = take(point, said, chooser_ != nullptr && chooser_->co_allocates());
  if (option.kind == OptionKind::wait) return false;
  if (shares) {
    const JobProfile& profile = context.candidates.residents().profile(request.profile);
    gangs_.ask_to_share(context.view, entry, job, option.plan->type,
                        {option.plan->speed, kGangGain * *rules_.minimum_gain *
                                                 forwarding_.best(context.view, request, profile)},
                        out);
  } else {
    gangs_.ask(context.view, entry, job, option.plan->share, option.plan->type, trial, out);
  }
  return true;
}

Candidates PlacementPolicy::look(const View& view) {
  Candidates candidates = candidates_.sync(view, facts_.shares_gpus);
  if (follow_) remaining_.follow(candidates.residents(), view.now);
  return candidates;
}

std::vector<CoTenant> PlacementPolicy::co_tenants(const View& given, const JobSpec& gang,
                                                  std::size_t most) {
  if (!shares_gangs_) return {};
  const View view = scorer_->seen(given);
  return look(view).co_tenants(gang, most);
}

std::vector<std::size_t> PlacementPolicy::choose_tenants(const View&, const JobView& gang,
                                                         std::uint32_t free,
                                                         std::span<const CoTenant> offered) {
  const CoAllocation::Worth* worth = gangs_.worth_of(gang.order);
  if (!shares_gangs_ || worth == nullptr) return {};
  return choose_co_tenants({gang.spec->gpus(), free, std::max(gang.spec->gpus_per_worker, 1U),
                            worth->alone, worth->least},
                           offered);
}

std::vector<std::byte> PlacementPolicy::save(Instant origin) const {
  if (!follow_ || learned() == 0) return {};
  MemoryWriter out;
  remaining_.forecast().save(out, origin);
  scorer_->save(out, origin);
  return out.take();
}

Status PlacementPolicy::restore(std::span<const std::byte> memory, Instant origin) {
  if (!follow_) return starling::done();
  MemoryReader in(memory);
  Forecast forecast(order_ == PlacementOrder::forecast);
  forecast.restore(in, origin);
  scorer_->restore(in, origin);
  if (!in.whole()) return {Errc::invalid, "it is no forecast"};
  remaining_.restore(std::move(forecast));
  return starling::done();
}

}  // namespace starling
