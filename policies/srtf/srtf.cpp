// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "policies/builtin.h"
#include "policies/parts/evict.h"
#include "policies/queues/queue_place.h"
#include "policies/queues/queue_walk.h"
#include "policies/registry.h"
#include "policies/srtf/srtf_explain.h"
#include "scheduling/queue_order.h"
#include "scheduling/running_index.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "srtf",
    .summary = "shortest remaining time first; stops longer jobs for shorter ones",
    .family = Family::order,
    .preemptive = true,
    .by_end = true,
    .lengths = LengthSource::estimates};

/// A waiting job that finds no room stops the running jobs with the most time left, as few as it
/// needs, if each of them has at least (1 + margin) times its own. Those of a lower priority it
/// stops first, whatever they have left, those of a higher one never. What it will get when they
/// have stopped is kept for it: no job behind it in the queue starts there in the meantime.
class Srtf final : public Policy, public QueueOrder {
 public:
  Srtf(const QueueOptions& options, double margin)
      : queue_(options, SrtfRule::left), rule_{margin} {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger&, Rng&) override {
    return queue_.decide(
        view, view.gpus.free_count() == 0 && !any_runs(view),
        {.start = [&](Trial& trial, std::vector<Decision>& out) { start_here(view, trial, out); }});
  }
  [[nodiscard]] bool asks_first(const JobView& a, const JobView& b, Instant) const override {
    return goes_before(a, SrtfRule::left(a), b, SrtfRule::left(b));
  }
  [[nodiscard]] std::vector<std::string> explain_now(const View& view,
                                                     const JobView& job) const override {
    std::vector<std::string> lines;
    if (job.placement.empty())
      lines.push_back(
          place_in_queue(*this, view, job, "time left, then submission", length_left_text));
    for (std::string& line : explain_srtf(rule_, view, job, stopping_))
      lines.push_back(std::move(line));
    return lines;
  }

 private:
  using Preemptor = SrtfRule::Preemptor;
  struct Victim {
    std::int64_t left;
    const JobView* job;
  };
  [[nodiscard]] static bool may_stop(const Preemptor& who, const Victim* victim) {
    return victim != nullptr && SrtfRule::may_stop(who, victim->job->spec->priority, victim->left);
  }
  void look_at_running(const View& view, Eviction& eviction);
  /// The i-th of those who may be stopped, lowest priority and then longest first; null: there are
  /// no more.
  const Victim* victim(const View& view, std::size_t i);
  void add_victim(const View& view);
  /// Stops others until the job has a place, which is promised to it; nothing: nothing has changed.
  std::optional<Placement> make_room(const View& view, const JobSpec& job, const Preemptor& who,
                                     Eviction& eviction, std::vector<Decision>& out);
  void start_here(const View& view, Trial& trial, std::vector<Decision>& out);

  QueueWalk queue_;
  FailedGangs failed_;
  SrtfRule rule_;
  Mirror soon_;               // once those who stop have stopped
  std::set<JobId> stopping_;  // told to stop and still running
  RunningIndex own_;          // where the view has none
  const RunningIndex* running_ = nullptr;
  std::vector<Victim> victims_;  // that were asked for so far, longest first
  std::set<RunningIndex::End>::const_reverse_iterator next_victim_;
};

void Srtf::look_at_running(const View& view, Eviction& eviction) {
  if (view.ends == nullptr) own_ = RunningIndex(view.running, view.now);
  running_ = view.ends == nullptr ? &own_ : view.ends;
  std::erase_if(stopping_, [&](const JobId& id) {
    const JobView* job = running_->find(id, view.now);
    if (job == nullptr || !lies_here(view.gpus, job->placement)) return true;
    eviction.leaves(*job);
    return false;
  });
  victims_.clear();
  next_victim_ = running_->ends().crbegin();
  if (!queue_.index().prioritised()) return;
  // The order by end is not that of the victims: all are looked at.
  while (next_victim_ != running_->ends().crend()) add_victim(view);
  std::ranges::stable_sort(victims_, {}, [](const Victim& v) { return v.job->spec->priority; });
}

void Srtf::add_victim(const View& view) {
  const JobView& job = running_->job(*next_victim_++, view.now);
  if (job.blocked || stopping_.contains(job.spec->id) || !lies_here(view.gpus, job.placement))
    return;
  victims_.push_back({SrtfRule::left(job), &job});
}

const Srtf::Victim* Srtf::victim(const View& view, std::size_t i) {
  while (i >= victims_.size() && next_victim_ != running_->ends().crend()) add_victim(view);
  return i < victims_.size() ? &victims_[i] : nullptr;
}

std::optional<Placement> Srtf::make_room(const View& view, const JobSpec& job, const Preemptor& who,
                                         Eviction& eviction, std::vector<Decision>& out) {
  const auto worth = [&](std::size_t i) { return may_stop(who, victim(view, i)); };
  std::uint64_t gain = eviction.soon().free_count();
  for (std::size_t i = 0; gain < job.gpus() && worth(i); ++i) {
    gain += victims_[i].job->placement.size();
  }
  if (gain < job.gpus()) return std::nullopt;

  std::optional<Placement> place;
  for (std::size_t chosen = 0; !place && worth(chosen); ++chosen) {
    eviction.offer(*victims_[chosen].job);
    place = queue_.find_place(eviction.soon(), job);
  }
  if (!place) {
    eviction.withdraw();
    return place;
  }
  eviction.promise(*place, demand_of(job));
  for (const JobId id : eviction.settle(out)) {
    stopping_.insert(id);
    std::erase_if(victims_, [&](const Victim& v) { return v.job->spec->id == id; });
  }
  return place;
}

void Srtf::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  Eviction eviction(soon_.of(view.gpus));
  const Occupancy& soon = eviction.soon();
  look_at_running(view, eviction);
  const QueueIndex& index = queue_.index();
  QueueMarks& taken = queue_.taken();
  const bool strict = queue_.options().strict;
  failed_.reset(index.kinds());
  const auto queue = index.queue();
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const QueueEntry& entry = queue[i];
    const Preemptor who = rule_.preemptor(entry.priority, entry.key);
    const bool stops = may_stop(who, victim(view, 0));
    if (!stops && soon.free_count() == 0) break;  // nor do those behind it: less urgent, or longer
    if (taken[i] || entry.infeasible || !failed_.may_fit(entry)) {
      if (strict && !taken[i] && !entry.infeasible && !index.job(entry).blocked) break;
      continue;
    }
    const JobView& job = index.job(entry);
    if (job.blocked) continue;
    const Demand each = demand_of(*job.spec);
    auto place = entry.gpus <= trial.free_count() ? queue_.find_place(trial.gpus(), *job.spec)
                                                  : std::nullopt;
    if (place) {
      trial.take(*place, each);
      eviction.promise(*place, each);
      out.emplace_back(Start{job.spec->id, std::move(*place)});
      taken.mark(i);
      continue;
    }
    place = entry.gpus <= soon.free_count() ? queue_.find_place(soon, *job.spec) : std::nullopt;
    if (place) {
      eviction.promise(*place, each);
    } else if (stops) {
      place = make_room(view, *job.spec, who, eviction, out);
    }
    if (place) {
      keep(trial, *place);
      taken.mark(i);  // its place is coming: no business of other partitions
      continue;
    }
    failed_.add(entry);
    if (strict) break;
  }
}

}  // namespace

void add_srtf(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    const double margin = reader.number("margin", 0.25, 0, 1000,
                                        "0.25: stops a job that has 1.25 times as long to go");
    return std::unique_ptr<Policy>(std::make_unique<Srtf>(options, margin));
  });
}

}  // namespace starling
