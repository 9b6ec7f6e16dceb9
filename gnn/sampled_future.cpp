#include "gnn/sampled_future.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "base/hash.h"

namespace starling {
namespace {

constexpr Duration kRan = std::chrono::seconds(1);  // less is a start that was refused
constexpr std::size_t kFew = 8;                     // too few of a size to stand for it
constexpr double kLeastS = 300;                     // of a job that has outlived all others
constexpr double kOverrun = 0.05;                   // of its work so far, beyond its estimate
constexpr std::uint64_t kDrawn = ~0ULL;             // JobId::hi of jobs that were made up

std::size_t size_of(std::uint32_t gpus) {
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(gpus | 1U)) - 1, 7);
}

}  // namespace

void PastTotals::add(double total_s) {
  if (recent_.size() < kWindow) {
    recent_.push_back(total_s);
  } else {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), recent_[next_]));
    recent_[next_] = total_s;
    next_ = (next_ + 1) % kWindow;
  }
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), total_s), total_s);
}

std::size_t PastTotals::above(double attained_s) const {
  return static_cast<std::size_t>(sorted_.end() -
                                  std::upper_bound(sorted_.begin(), sorted_.end(), attained_s));
}

double PastTotals::left_s(double attained_s, double u) const {
  const std::size_t longer = above(attained_s);
  STARLING_CHECK(longer > 0 && u >= 0 && u < 1);
  const auto which = static_cast<std::size_t>(u * static_cast<double>(longer));
  return sorted_[sorted_.size() - longer + which] - attained_s;
}

void FutureSampler::observe(const View& view) {
  next_.clear();
  for (const JobView& job : view.running) {
    next_.push_back({job.order, job.served, static_cast<std::uint32_t>(job.placement.size())});
  }
  const auto earlier = [](const Seen& a, const Seen& b) { return a.order < b.order; };
  std::sort(next_.begin(), next_.end(), earlier);
  auto still = next_.begin();
  for (const Seen& job : running_) {
    while (still != next_.end() && still->order < job.order) ++still;
    if (still != next_.end() && still->order == job.order) continue;
    const Duration ran = job.served + (view.now - seen_);
    if (ran < kRan) continue;
    all_.add(seconds(ran));
    by_size_[size_of(job.gpus)].add(seconds(ran));
  }
  running_.swap(next_);
  seen_ = view.now;

  for (const JobView& job : view.waiting) {
    if (any_came_ && job.order <= last_order_) continue;
    const double gap = any_came_ ? std::max(0.0, seconds(job.submitted - last_came_)) : 0;
    last_order_ = job.order;
    last_came_ = job.submitted;
    any_came_ = true;
    if (came_.size() < kArrivals) {
      came_.push_back({gap, *job.spec});
    } else {
      came_[next_came_] = {gap, *job.spec};
      next_came_ = (next_came_ + 1) % kArrivals;
    }
  }
}

double FutureSampler::left_s(const JobSpec& spec, Duration served, double u) const {
  const double attained = seconds(served);
  if (spec.duration > Duration::zero()) {
    return std::max(seconds(spec.duration) - attained, kOverrun * attained);
  }
  const PastTotals& alike = by_size_[size_of(spec.gpus())];
  if (alike.above(attained) >= kFew) return alike.left_s(attained, u);
  if (all_.above(attained) >= kFew) return all_.left_s(attained, u);
  return std::max(attained, kLeastS) * -std::log1p(-u);
}

RolloutFuture FutureSampler::draw(const View& view, Duration horizon, std::size_t most,
                                  const Which& which) const {
  RolloutFuture out;
  Rng rng = Rng(which.seed).fork(which.sample);
  const auto left = [&](const JobView& job) {
    // Jobs go through the parts of their distributions from different ones on, half of them
    // backwards.
    const std::uint64_t mixed = mix64(which.seed ^ mix64(job.order));
    const auto from = static_cast<std::uint32_t>(mixed >> 32U) % which.of;
    const std::uint32_t step = (mixed & 1U) != 0 ? which.sample : which.of - 1 - which.sample;
    const double u = ((from + step) % which.of + rng.uniform()) / which.of;
    return left_s(*job.spec, job.served, u);
  };
  for (const JobView& job : view.waiting) out.waiting_s.push_back(left(job));
  for (const JobView& job : view.running) out.running_s.push_back(left(job));
  add_arrivals(seconds(horizon), most, rng, out);
  return out;
}

// A stretch of those who came lately, as they came, so that bursts stay bursts.
void FutureSampler::add_arrivals(double horizon_s, std::size_t most, Rng& rng,
                                 RolloutFuture& out) const {
  if (came_.size() < 2) return;
  std::size_t at = rng.below(static_cast<std::uint32_t>(came_.size()));
  double after_s = came_[at].gap_s * rng.uniform();
  for (std::size_t i = 0; i < most && after_s <= horizon_s; ++i) {
    const Came& came = came_[at];
    RolloutArrival& arrival = out.arrivals.emplace_back();
    arrival.after = from_seconds(after_s);
    arrival.spec = came.spec;
    arrival.spec.id = {kDrawn, i};
    arrival.work_s = left_s(came.spec, Duration::zero(), rng.uniform());
    at = (at + 1) % came_.size();
    after_s += came_[at].gap_s;
  }
}

}  // namespace starling
