// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/round_world.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/published/shockwave/round_places.h"

namespace starling {
namespace {

constexpr double kRound_s = 120;
constexpr double kStart_s = 20;
constexpr double kNearlyRound_s = kRound_s - 5;  // who runs for less is in its last round
constexpr std::uint32_t kMostFailures = 5;
constexpr double kMostOverrun = 1.5;  // of the profile's time; the simulator then ends the job

std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// At the end of a round that the job ran in: the batch that it has asked for.
void change_batch(RoundJob& job) {
  if (!job.next_batch) return;
  const std::uint32_t before = job.batch, after = *job.next_batch;
  job.next_batch.reset();
  const DynamicBatches& rule = job.spec->batches;
  const std::int64_t old_epoch = rule.steps_per_epoch(before);
  const std::int64_t new_epoch = rule.steps_per_epoch(after);
  const std::int64_t epochs = rounded_up(job.steps, old_epoch);
  const double scale = 1 / (static_cast<double>(after) / before);
  job.steps = static_cast<std::int64_t>(std::ceil(static_cast<double>(job.steps) * scale));
  if (rounded_up(job.steps, new_epoch) != epochs) job.steps = epochs * new_epoch;
  job.done = rounded_up(job.done, old_epoch) * new_epoch;
  job.batch = after;
}

class RoundWorld {
 public:
  RoundWorld(const std::vector<ShockwaveJob>& jobs, std::uint32_t gpus, RoundPolicy& policy)
      : specs_(jobs), gpus_(gpus), policy_(policy) {
    out_.jct_s.resize(jobs.size());
  }

  RoundRun run() {
    while (arrived_ < specs_.size() || !jobs_.empty()) {
      if (!running_.empty()) {
        end_round();
      } else if (arrived_ < specs_.size()) {
        now_s_ = end_s_ = std::max(now_s_, specs_[arrived_].arrival_s);
      } else {
        break;
      }
      arrive();
      if (jobs_.empty()) continue;
      begin_round();
    }
    out_.makespan_s = now_s_;
    return std::move(out_);
  }

 private:
  struct Running {
    std::size_t job;
    double until_s;
    std::int64_t steps;
  };

  [[nodiscard]] RoundView view() const { return {round_, now_s_, jobs_}; }

  void end_round() {
    std::sort(running_.begin(), running_.end(), [](const Running& a, const Running& b) {
      return a.until_s > b.until_s || (a.until_s == b.until_s && a.job < b.job);
    });
    start_s_ = end_s_;
    now_s_ = end_s_ = running_.front().until_s;
    for (const Running& ran : running_) finish(ran);
    running_.clear();
    for (auto& [id, job] : jobs_) {
      const DynamicBatches& rule = job.spec->batches;
      const std::int64_t epochs = rounded_up(job.done, rule.steps_per_epoch(job.batch));
      if (const auto next = rule.next(job.batch, epochs)) job.next_batch = next;
    }
    policy_.round_over(view());
  }

  /// Did it not run in the round before the one that is over?
  [[nodiscard]] bool started(std::size_t job) const {
    return round_ > 1 && !out_.rounds[round_ - 2].contains(job);
  }

  void finish(const Running& running) {
    RoundJob& job = jobs_.at(running.job);
    RoundRan ran{running.until_s - start_s_, running.steps, false};
    if (started(running.job) && ran.seconds > kNearlyRound_s) {
      const double part = (ran.seconds - kStart_s) / ran.seconds;
      ran.steps = static_cast<std::int64_t>(static_cast<double>(ran.steps) * part);
      ran.seconds -= kStart_s;
    }
    ran.failed = ran.steps <= 0 && ran.seconds <= 0;
    job.ran_s += ran.seconds;
    job.failures = ran.failed ? job.failures + 1 : 0;
    if (!ran.failed) job.done += ran.steps;
    const double limit = std::floor(std::floor(job.spec->alone_s()) * kMostOverrun);
    const bool over =
        ran.failed ? job.failures >= kMostFailures : job.done >= job.steps || job.ran_s > limit;
    policy_.ran(running.job, ran, view());
    change_batch(job);
    if (!over) return;
    out_.jct_s[running.job] = running.until_s - job.spec->arrival_s;
    jobs_.erase(running.job);
    policy_.removed(running.job);
  }

  void arrive() {
    for (; arrived_ < specs_.size() && specs_[arrived_].arrival_s <= now_s_; ++arrived_) {
      RoundJob job;
      job.spec = &specs_[arrived_];
      job.batch = job.spec->batches.first();
      job.steps = job.spec->steps;
      jobs_[arrived_] = job;
      policy_.added(arrived_, view());
    }
  }

  void begin_round() {
    const RoundPlaces none;
    const RoundPlaces& before = out_.rounds.empty() ? none : out_.rounds.back();
    RoundPlaces places = place_round(before, policy_.choose(view()), jobs_, gpus_);
    for (const auto& [id, where] : places) {
      const RoundJob& job = jobs_.at(id);
      const auto most = static_cast<std::int64_t>(job.speed() * kRound_s);
      const std::int64_t steps = std::min(most, job.steps - job.done);
      const double until = now_s_ + static_cast<double>(steps) / job.speed();
      running_.push_back({id, std::max(now_s_, until), steps});
    }
    out_.rounds.push_back(std::move(places));
    ++round_;
  }

  const std::vector<ShockwaveJob>& specs_;
  std::uint32_t gpus_;
  RoundPolicy& policy_;
  RoundJobs jobs_;
  std::vector<Running> running_;
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
  double now_s_ = 0, start_s_ = 0, end_s_ = 0;
  RoundRun out_;
};

}  // namespace

RoundRun run_rounds(const std::vector<ShockwaveJob>& jobs, std::uint32_t gpus,
                    RoundPolicy& policy) {
  return RoundWorld(jobs, gpus, policy).run();
}

}  // namespace starling
