// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/counted.h"
#include "policies/builtin.h"
#include "policies/queues/queue_place.h"
#include "policies/queues/queue_walk.h"
#include "policies/registry.h"
#include "scheduling/running_index.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "easy",
    .summary = "in order; later jobs may start if they do not delay the first one that waits",
    .family = Family::order,
    .needs_running = true,
    .by_end = true,
    .lengths = LengthSource::estimates};

/// EASY backfilling (Lifka 1995). The first job that does not fit gets a reservation: the time at
/// which enough running jobs will have ended for it, by their estimates. A later job may start if
/// it ends before that or uses only GPUs that the reservation leaves over. Reservations count GPUs,
/// not places; a running job of unknown length never ends, so behind one nothing long starts.
class Easy final : public Policy {
 public:
  explicit Easy(Fit fit) : queue_({false, fit}, [](const JobView&) { return 0; }) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger&, Rng&) override {
    return queue_.decide(
        view, view.gpus.free_count() == 0,
        {.start = [&](Trial& trial, std::vector<Decision>& out) { start_here(view, trial, out); }});
  }
  [[nodiscard]] std::vector<std::string> explain(JobId job) const override;
  [[nodiscard]] std::vector<std::string> explain_now(const View& view,
                                                     const JobView& job) const override {
    if (!job.placement.empty() || !explain(job.spec->id).empty()) return {};
    return {place_in_queue(*this, view, job, "submission"),
            "  GPUs are reserved for the first that finds too few, once some are free"};
  }

 private:
  struct Ending {
    std::int64_t at;  // since view.now
    std::uint32_t gpus;
  };
  struct Reservation {
    std::int64_t at = std::numeric_limits<std::int64_t>::max();
    std::uint32_t spare = 0;  // GPUs free at `at` beyond what the first job needs
  };
  /// `started`: in this call.
  [[nodiscard]] static Reservation reserve(const View& view, std::vector<Ending> started,
                                           std::uint32_t free, std::uint32_t want);
  void start_here(const View& view, Trial& trial, std::vector<Decision>& out);

  /// As of the last call that had GPUs to give.
  struct Kept {
    JobId job;
    std::uint32_t gpus;
    Instant made;
    Reservation until;
  };
  QueueWalk queue_;
  FailedGangs failed_;
  std::optional<Kept> kept_;
  std::vector<JobId> passed_;  // later ones that this call looked at and did not start
};

std::int64_t time_left(const JobView& job) {
  if (job.spec->duration <= Duration::zero()) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>((job.spec->duration - job.served).count(), 0);
}

/// Walks the ends, soonest first, as far as it must. One that has outrun its estimate ends now.
Easy::Reservation Easy::reserve(const View& view, std::vector<Ending> started, std::uint32_t free,
                                std::uint32_t want) {
  std::stable_sort(started.begin(), started.end(),
                   [](const Ending& a, const Ending& b) { return a.at < b.at; });
  std::optional<Reservation> found;
  const auto end = [&](const Ending& ending) {
    free += ending.gpus;
    if (!found && free >= want) found = Reservation{ending.at, free - want};
  };
  std::optional<RunningIndex> own;
  if (view.ends == nullptr) own.emplace(view.running, view.now);
  const RunningIndex& running = own ? *own : *view.ends;
  auto next = started.begin();
  for (const RunningIndex::End& at : running.ends()) {
    const JobView& job = running.job(at, view.now);
    const std::int64_t left = time_left(job);
    for (; next != started.end() && next->at < left; ++next) end(*next);
    const auto here = static_cast<std::uint32_t>(
        std::count_if(job.placement.begin(), job.placement.end(),
                      [&](GpuId gpu) { return view.gpus.gpus().contains(gpu.value); }));
    if (!found) end({left, here});
    if (found) return *found;
  }
  for (; next != started.end(); ++next) end(*next);
  return found.value_or(Reservation{});
}

void Easy::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  std::vector<Ending> started;
  std::optional<Reservation> first;
  const QueueIndex& index = queue_.index();
  QueueMarks& taken = queue_.taken();
  const auto queue = index.queue();
  failed_.reset(index.kinds());
  kept_.reset();
  passed_.clear();
  for (std::size_t i = 0; i < queue.size() && trial.free_count() > 0; ++i) {
    const JobView& job = index.job(queue[i]);
    if (taken[i] || job.blocked) continue;
    const std::int64_t length = time_left(job);
    const bool in_time = !first || length <= first->at || queue[i].gpus <= first->spare;
    const bool hope = queue[i].gpus <= trial.free_count() && failed_.may_fit(queue[i]);
    if (in_time && hope) {
      if (auto place = queue_.find_place(trial.gpus(), *job.spec)) {
        if (first && length > first->at) first->spare -= queue[i].gpus;
        trial.take(*place, demand_of(*job.spec));
        started.push_back({length, queue[i].gpus});
        out.emplace_back(Start{job.spec->id, std::move(*place)});
        taken.mark(i);
        continue;
      }
      failed_.add(queue[i]);
    }
    if (first) passed_.push_back(job.spec->id);
    if (first || queue[i].infeasible) continue;
    first = reserve(view, started, trial.free_count(), queue[i].gpus);
    kept_ = Kept{job.spec->id, queue[i].gpus, view.now, *first};
  }
  if (kept_) kept_->until.spare = first->spare;
}

std::vector<std::string> Easy::explain(JobId job) const {
  if (!kept_) return {};
  const bool own = job == kept_->job;
  if (!own && std::ranges::find(passed_, job) == passed_.end()) return {};
  char text[64];
  std::snprintf(text, sizeof text, "policy: at %.0f s ", seconds(kept_->made.time_since_epoch()));
  std::string line = text + counted(kept_->gpus, "GPU was", "GPUs were") + " reserved for " +
                     (own ? "it, the first" : "job " + to_string(kept_->job) + ", the first") +
                     " that waits, ";
  const bool known = kept_->until.at < std::numeric_limits<std::int64_t>::max();
  if (known) {
    std::snprintf(text, sizeof text, "%.0f s later", seconds(Duration(kept_->until.at)));
    line += std::string(text) + ": by their estimates enough jobs will have ended then";
  } else {
    line += "for when enough jobs have ended; not all say how long they take";
  }
  std::vector<std::string> lines{std::move(line)};
  if (own) return lines;
  std::string others = known ? "what ends by then" : "what fits";
  if (const std::uint32_t spare = kept_->until.spare; known && spare > 0)
    others += ", or takes no more than the " + counted(spare, "GPU") + " left over";
  lines.push_back("  before that starts " + others);
  return lines;
}

}  // namespace

void add_easy(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    return std::unique_ptr<Policy>(std::make_unique<Easy>(read_fit(reader)));
  });
}

}  // namespace starling
