// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "policies/builtin.h"
#include "policies/placement/candidates_policy.h"
#include "policies/placement/smart_greedy_times.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "smart-greedy",
    .summary =
        "the least time, its own until it ends and what it adds to its neighbours'; waits "
        "if that is cheaper",
    .family = Family::placement,
    .needs_running = true,
    .shares_gpus = true};

/// Of all candidates the one that costs the least time in all: what the job takes there, and what
/// it adds to those beside it for as long as both run. If the guessed wait for free GPUs of the
/// best kind, behind those ahead in the queue, and the time on them come to less, it waits.
class SmartGreedy final : public PlacementPolicy {
 public:
  SmartGreedy(const QueueOptions& options, bool may_wait, double threshold, PlacementOrder order)
      : PlacementPolicy(options, true, order), may_wait_(may_wait), threshold_(threshold) {}
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }

 protected:
  void start_here(const View& view, Trial& trial, std::vector<Decision>& out) override {
    times_.begin(view, candidates_, remaining_);
    waits_for_.assign(index_.looks(), kNowhere);
    PlacementPolicy::start_here(view, trial, out);
  }

  [[nodiscard]] Answer choose(const View& view, const Wish& wish, const JobView& job) override {
    const bool picky = busy(view) || later_;
    const double work = remaining_.left(job, view.now);
    const double least = picky && threshold_ > 0
                             ? threshold_ * wish.gpus * best_alone(wish) * static_cast<double>(kGpu)
                             : -kForever;
    Cost start{kForever, nullptr};
    for (const Candidate* c : look(wish)) {
      if (static_cast<double>(c->gain) < least) continue;
      const double cost = time_of(view, *c, work);
      if (cost < start.seconds) start = {cost, c};
    }
    const auto slowdown = [](const Candidate* c) {
      return c == nullptr ? std::nullopt : std::optional(c->slowdown);
    };
    if (const Destination* d = better_elsewhere(wish, slowdown(start.where))) return Answer(d);
    if (start.where != nullptr && (!picky || !may_wait_)) return start.where->placement;
    double wait = kForever;
    std::uint32_t kind = kNowhere;
    for (const std::uint32_t k : candidates_.kinds(*wish.spec)) {
      const double speed = candidates_.alone(wish, empty(), k);
      if (speed <= 0) continue;
      // Where it could start alone at once there is nothing to wait for.
      if (start.where != nullptr && start.seconds <= work / speed) continue;
      const double all = times_.wait(k, wish) + work / speed;
      if (kind == kNowhere || all < wait) {
        wait = all;
        kind = k;
      }
    }
    if (start.where != nullptr && start.seconds <= wait) return start.where->placement;
    waits_for_[wish.look] = kind;
    return std::nullopt;
  }

  [[nodiscard]] bool alike(const JobView& job) const override {
    return job.spec->duration <= Duration::zero();
  }
  [[nodiscard]] std::optional<double> minimum_gain() const override { return threshold_; }
  void passed_over(const QueueEntry& entry) override {
    if (const std::uint32_t kind = waits_for_[entry.look]; kind != kNowhere) {
      times_.promise(kind, entry.gpus);
    }
  }

 private:
  static constexpr double kForever = std::numeric_limits<double>::infinity();
  static constexpr std::uint32_t kNowhere = ~0U;
  struct Cost {
    double seconds = 0;
    const Candidate* where = nullptr;
  };

  /// All candidates of a look; the same until something changes.
  [[nodiscard]] const Candidates::Found& look(const Wish& wish) {
    if (looks_.size() <= wish.look) looks_.resize(wish.look + 1);
    Look& known = looks_[wish.look];
    if (known.version == candidates_.version()) return known.found;
    known.version = candidates_.version();
    known.found = candidates_.exclusive(wish);
    if (known.found.empty() || known.found.front()->slowdown > 0) {
      const Candidates::Found shared = candidates_.shared(wish);
      known.found.insert(known.found.end(), shared.begin(), shared.end());
    }
    return known.found;
  }

  [[nodiscard]] double time_of(const View& view, const Candidate& candidate, double work) {
    double together = 0;  // seconds until the last of those on its GPUs has ended
    for (const Candidate::Loss& loss : candidate.losses) {
      if (!loss.shares) continue;
      const Resident& other = candidates_.residents().at(loss.slot);
      together = std::max(together, remaining_.left(other, view.now) / loss.after);
    }
    double own = work / candidate.own;
    if (own > together) own = together + (work - together * candidate.own) / candidate.apart;
    double added = 0;
    for (const Candidate::Loss& loss : candidate.losses) {
      const Resident& other = candidates_.residents().at(loss.slot);
      const double overlap = std::min(own, remaining_.left(other, view.now) / loss.after);
      added += overlap * (1 - loss.after / loss.before);
    }
    return own + added;
  }

  bool may_wait_;
  double threshold_;
  FreeTimes times_;
  struct Look {
    std::uint64_t version = 0;
    Candidates::Found found;
  };
  std::vector<Look> looks_;
  std::vector<std::uint32_t> waits_for_;  // kinds, by look
};

}  // namespace

void add_smart_greedy(PolicyRegistry& registry) {
  registry.add(kFacts, [](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    const bool wait =
        reader.choice("wait", {"yes", "no"}, "no: a job never waits though there is room") == "yes";
    const double threshold = reader.number("threshold", 0, 0, 1, kThresholdHelp);
    const PlacementOrder order = read_placement_order(reader, PlacementOrder::arrival);
    return std::unique_ptr<Policy>(std::make_unique<SmartGreedy>(options, wait, threshold, order));
  });
}

}  // namespace starling
