// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "policies/builtin.h"
#include "policies/partitions/price_routing.h"
#include "policies/parts/service_history.h"
#include "policies/queues/queue_place.h"
#include "policies/registry.h"
#include "policies/tiresias/ranked.h"
#include "policies/tiresias/tiresias_explain.h"
#include "scheduling/queue_order.h"

namespace starling {
namespace {

constexpr PolicyFacts kLas{.name = "tiresias-las",
                           .summary = "least attained service first, in queues; knows no durations",
                           .family = Family::order,
                           .preemptive = true,
                           .by_end = true,
                           .round = std::chrono::seconds(60)};
constexpr PolicyFacts kGittins{
    .name = "tiresias-gittins",
    .summary = "by Gittins index over the service of past jobs, in queues; knows no durations",
    .family = Family::order,
    .preemptive = true,
    .lengths = LengthSource::past,
    .round = std::chrono::seconds(60)};

/// Tiresias (NSDI'19): the service a job has attained (GPUs x time) puts it into one of K queues,
/// so that jobs do not overtake one another for ever. Within a queue LAS keeps the order of
/// submission; Gittins goes by the index, with the queue's upper threshold as the horizon. The
/// index may fall at once where past jobs were short, so it changes only with whole rounds of a
/// job's service: two that have just begun would else stop each other without end.
class Tiresias final : public Policy, public QueueOrder {
 public:
  Tiresias(const QueueOptions& options, const PolicyFacts& facts, double threshold, int queues,
           double factor)
      : facts_(facts), ranked_(options, [this](const JobView& job) { return rank(job); }) {
    ranked_.set_veto([this](const View& view, const JobView& job, AgentId to) {
      return routing_.costs_more(view, job, to);
    });
    for (int i = 1; i < queues; ++i, threshold *= factor) thresholds_.push_back(threshold);
  }
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return facts_; }

  [[nodiscard]] std::vector<Decision> decide(const View& all, const Trigger&, Rng&) override {
    std::vector<Decision> out;
    const View& view = routing_.route(all, out);
    if (gittins()) note_ends(view);
    for (Decision& decision : ranked_.decide(view)) out.push_back(std::move(decision));
    return out;
  }
  [[nodiscard]] std::span<const TypePrice> prices() const override { return routing_.prices(); }
  [[nodiscard]] bool asks_first(const JobView& a, const JobView& b, Instant) const override {
    return goes_before(a, rank(a), b, rank(b));
  }
  [[nodiscard]] std::vector<std::string> explain_now(const View& view,
                                                     const JobView& job) const override {
    std::optional<GittinsStanding> by;
    if (gittins()) by = GittinsStanding{history_.knows(), index_of(job)};
    std::vector<std::string> lines = explain_tiresias(job, standing(job), by);
    if (job.placement.empty()) {
      const bool by_index = by && by->known;
      lines.push_back(place_in_queue(
          *this, view, job, by_index ? "queue, then index" : "queue, then submission",
          [this](const JobView& of) { return "is in queue " + std::to_string(queue_of(of) + 1); }));
    }
    return lines;
  }

  [[nodiscard]] std::vector<std::byte> save(Instant) const override {
    if (!gittins()) return {};
    MemoryWriter out;
    history_.save(out);
    const std::size_t jobs = std::min(seen_.size(), kMostSeen);
    out.word(jobs);
    auto at = seen_.begin();
    for (std::size_t i = 0; i < jobs; ++i, ++at) out.job(at->first), out.number(at->second);
    return out.take();
  }
  [[nodiscard]] Status restore(std::span<const std::byte> memory, Instant) override {
    MemoryReader in(memory);
    ServiceHistory history;
    history.restore(in);
    std::map<JobId, double> seen;
    for (std::size_t left = in.count(kMostSeen, 3); left > 0; --left) {
      const JobId job = in.job();
      seen[job] = in.number(0, 1e15);
    }
    if (!in.whole()) return {Errc::invalid, "it is no history of service"};
    history_ = std::move(history);
    seen_ = std::move(seen);
    return done();
  }
  [[nodiscard]] std::uint64_t learned() const noexcept override { return learned_; }

 private:
  static constexpr std::size_t kMostSeen = 16'384;

  // Queue in the high bits; in the low ones what orders a queue: submission, or the index.
  [[nodiscard]] std::int64_t rank(const JobView& job) const {
    constexpr std::int64_t kWithin = std::int64_t{1} << 52;
    std::int64_t within =
        std::clamp<std::int64_t>(job.submitted.time_since_epoch().count() / 1000, 0, kWithin - 1);
    if (gittins() && history_.knows()) {
      const double index = index_of(job);
      // Seconds per finished job, quantised: scores are compared as integers.
      within =
          index > 0 ? std::min<std::int64_t>(std::llround(1e3 / index), kWithin - 1) : kWithin - 1;
    }
    return static_cast<std::int64_t>(queue_of(job)) * kWithin + within;
  }
  [[nodiscard]] static double attained(const JobView& job) {
    return seconds(job.served) * job.spec->gpus();
  }
  [[nodiscard]] std::size_t queue_of(const JobView& job) const {
    return static_cast<std::size_t>(
        std::upper_bound(thresholds_.begin(), thresholds_.end(), attained(job)) -
        thresholds_.begin());
  }
  [[nodiscard]] double index_of(const JobView& job) const {
    const std::size_t queue = queue_of(job);
    const double counted = seconds(job.served - job.served % facts_.round) * job.spec->gpus();
    const double horizon = queue < thresholds_.size() ? thresholds_[queue] - counted
                                                      : std::numeric_limits<double>::max();
    return history_.index(counted, std::max(horizon, 1.0));
  }
  [[nodiscard]] TiresiasStanding standing(const JobView& job) const {
    TiresiasStanding stands{queue_of(job), thresholds_.size() + 1, attained(job), {}};
    if (stands.queue < thresholds_.size()) stands.ends_at = thresholds_[stands.queue];
    return stands;
  }
  [[nodiscard]] bool gittins() const noexcept { return &facts_ == &kGittins; }

  /// A job that ran at the last call and is neither running nor waiting now has finished.
  void note_ends(const View& view) {
    std::map<JobId, double> now;
    for (const auto jobs : {view.running, view.waiting}) {
      for (const JobView& job : jobs) {
        if (job.served > Duration::zero() || !job.placement.empty()) {
          now[job.spec->id] = seconds(job.served) * job.spec->gpus();
        }
      }
    }
    bool same = now.size() == seen_.size();
    for (const auto& [job, service] : seen_) {
      if (now.contains(job)) continue;
      same = false;
      if (service > 0) history_.add(service);
    }
    seen_ = std::move(now);
    if (!same) ++learned_;
  }

  const PolicyFacts& facts_;
  PriceRouting routing_{false};
  Ranked ranked_;
  std::vector<double> thresholds_;  // GPU-seconds, ascending
  ServiceHistory history_;
  std::map<JobId, double> seen_;
  std::uint64_t learned_ = 0;
};

void add(PolicyRegistry& registry, const PolicyFacts& facts) {
  registry.add(facts, [&facts](OptionReader& reader) -> Result<std::unique_ptr<Policy>> {
    const QueueOptions options = read_queue_options(reader, QueueDefault::skip);
    const double threshold = reader.number("threshold", 3600, 1, 1e12,
                                           "GPU-seconds of service that the first queue ends at");
    const double queues = reader.number("queues", 2, 1, 16, "how many there are");
    const double factor =
        reader.number("factor", 10, 1.01, 1e6, "each threshold is so many times the one before");
    return std::unique_ptr<Policy>(std::make_unique<Tiresias>(
        options, facts, threshold, static_cast<int>(std::lround(queues)), factor));
  });
}

}  // namespace

void add_tiresias(PolicyRegistry& registry) {
  add(registry, kLas);
  add(registry, kGittins);
}

}  // namespace starling
