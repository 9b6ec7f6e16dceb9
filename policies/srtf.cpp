#include <algorithm>
#include <limits>
#include <set>

#include "policies/builtin.h"
#include "policies/queue_policy.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "srtf",
    .summary = "shortest remaining time first; stops longer jobs for shorter ones",
    .family = Family::order,
    .preemptive = true,
    .needs_durations = true};

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

/// Remaining time on the best placement; jobs of unknown length come last.
std::int64_t remaining(const JobView& job) {
  if (job.spec->duration <= Duration::zero()) return kUnknown;
  return std::max<std::int64_t>((job.spec->duration - job.served).count(), 0);
}

/// A waiting job that finds no room stops the running jobs with the most time left, as few as it
/// needs, if each of them has at least (1 + margin) times its own. What it will get when they have
/// stopped is kept for it: nobody behind it in the queue starts there in the meantime.
class Srtf final : public QueuePolicy {
 public:
  Srtf(const QueueOptions& options, double margin) : QueuePolicy(options), margin_(margin) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }

 protected:
  [[nodiscard]] std::int64_t key(const JobView& job) const override { return remaining(job); }
  [[nodiscard]] bool idle(const View& view) const override {
    return view.gpus.free_count() == 0 && view.running.empty();
  }
  void start_here(const View& view, Trial& trial, std::vector<Decision>& out) override;

 private:
  struct Victim {
    std::int64_t remaining;
    const JobView* job;
  };
  void look_at_running(const View& view, Occupancy& soon);
  /// Stops others until `job` fits into `soon`; its place, or nothing and then nothing has changed.
  std::optional<Placement> make_room(const View& view, const JobSpec& job,
                                     std::int64_t job_remaining, Occupancy& soon,
                                     std::vector<Decision>& out);
  [[nodiscard]] std::int64_t worth_stopping(std::int64_t job_remaining) const;

  double margin_;
  std::set<JobId> stopping_;     // told to stop and still running
  std::vector<Victim> victims_;  // what may be stopped, longest last
};

std::int64_t Srtf::worth_stopping(std::int64_t job_remaining) const {
  const double least = static_cast<double>(job_remaining) * (1 + margin_);
  if (least >= 9e18) return std::numeric_limits<std::int64_t>::max();
  return std::max(static_cast<std::int64_t>(least), job_remaining + 1);
}

void Srtf::look_at_running(const View& view, Occupancy& soon) {
  std::set<JobId> still;
  victims_.clear();
  for (const JobView& job : view.running) {
    if (!lies_here(view, job.placement)) continue;
    if (stopping_.contains(job.spec->id)) {
      still.insert(job.spec->id);
      soon.give_back(job.placement);
    } else if (!job.blocked) {
      victims_.push_back({remaining(job), &job});
    }
  }
  stopping_ = std::move(still);
  std::stable_sort(victims_.begin(), victims_.end(),
                   [](const Victim& a, const Victim& b) { return a.remaining < b.remaining; });
}

std::optional<Placement> Srtf::make_room(const View& view, const JobSpec& job,
                                         std::int64_t job_remaining, Occupancy& soon,
                                         std::vector<Decision>& out) {
  const std::int64_t least = worth_stopping(job_remaining);
  std::uint64_t gain = soon.free_count();
  for (auto v = victims_.rbegin(); v != victims_.rend() && v->remaining >= least; ++v) {
    gain += v->job->placement.size();
    if (gain >= job.gpus()) break;
  }
  if (gain < job.gpus()) return std::nullopt;

  std::vector<std::size_t> chosen;
  std::optional<Placement> place;
  for (std::size_t i = victims_.size(); i-- > 0 && victims_[i].remaining >= least && !place;) {
    soon.give_back(victims_[i].job->placement);
    chosen.push_back(i);
    place = find_place(view, soon, job);
  }
  if (!place) {
    for (const std::size_t i : chosen) soon.take(victims_[i].job->placement);
    return std::nullopt;
  }
  // Only those whose GPUs it really gets have to go.
  const auto needed = [&](std::size_t i) {
    const Placement& gpus = victims_[i].job->placement;
    return std::any_of(gpus.begin(), gpus.end(), [&](GpuId gpu) {
      return std::binary_search(place->begin(), place->end(), gpu);
    });
  };
  for (const std::size_t i : chosen) {  // descending, so erasing keeps the rest valid
    if (!needed(i)) {
      soon.take(victims_[i].job->placement);
      continue;
    }
    const JobId stopped = victims_[i].job->spec->id;
    out.emplace_back(Preempt{stopped});
    stopping_.insert(stopped);
    victims_.erase(victims_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return place;
}

void Srtf::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  Occupancy soon = view.gpus;
  look_at_running(view, soon);
  failed_.assign(index_.kinds(), std::numeric_limits<std::uint32_t>::max());
  const auto queue = index_.queue();
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const QueueEntry& entry = queue[i];
    const std::int64_t longest = victims_.empty() ? -1 : victims_.back().remaining;
    // Jobs of unknown length stop nobody: two of them would stop each other without end.
    const bool may_stop = entry.key != kUnknown && longest >= worth_stopping(entry.key);
    if (!may_stop && soon.free_count() == 0) break;  // those behind it have longer to go
    if (taken_[i] || entry.homeless || entry.gpus >= failed_[entry.kind]) {
      if (options().strict && !taken_[i] && !entry.homeless && !index_.job(entry).blocked) break;
      continue;
    }
    const JobView& job = index_.job(entry);
    if (job.blocked) continue;
    auto place =
        entry.gpus <= trial.free_count() ? find_place(view, trial.gpus(), *job.spec) : std::nullopt;
    if (place) {
      trial.take(*place);
      soon.take(*place);
      out.emplace_back(Start{job.spec->id, std::move(*place)});
      taken_[i] = true;
      continue;
    }
    place = entry.gpus <= soon.free_count() ? find_place(view, soon, *job.spec) : std::nullopt;
    if (!place && may_stop) place = make_room(view, *job.spec, entry.key, soon, out);
    if (place) {
      soon.take(*place);
      Placement kept;
      for (const GpuId gpu : *place) {
        if (trial.gpus().is_free(gpu)) kept.push_back(gpu);
      }
      if (!kept.empty()) trial.take(std::move(kept));
      taken_[i] = true;  // its place is coming: no business of other partitions
      continue;
    }
    failed_[entry.kind] = entry.gpus;
    if (options().strict) break;
  }
}

}  // namespace

void add_srtf(PolicyRegistry& registry) {
  registry.add(
      kFacts,
      [](const PolicyOptions& given) -> Result<std::unique_ptr<Policy>> {
        OptionReader reader(kFacts.name, given);
        const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
        const double margin = reader.number("margin", 0.25, 0, 1000);
        if (const Status status = reader.status(); !status) return status.error();
        return std::unique_ptr<Policy>(std::make_unique<Srtf>(options, margin));
      },
      "queue=skip|strict, fit=node|count, margin=X (0.25: stops a job that has 1.25 times as long "
      "to go)");
}

}  // namespace starling
