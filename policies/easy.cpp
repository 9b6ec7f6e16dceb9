#include <algorithm>
#include <limits>

#include "policies/builtin.h"
#include "policies/queue_policy.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "easy",
    .summary = "in order; later jobs may start if they do not delay the first one that waits",
    .family = Family::order,
    .needs_running = true,
    .needs_durations = true};

/// EASY backfilling (Lifka 1995). The first job that does not fit gets a reservation: the time at
/// which enough running jobs will have ended for it, by their estimates. A later job may start if
/// it ends before that or uses only GPUs that the reservation leaves over. Reservations count GPUs,
/// not places; a running job of unknown length never ends, so behind one nothing long starts.
class Easy final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }

 protected:
  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }
  void start_here(const View& view, Trial& trial, std::vector<Decision>& out) override;

 private:
  struct Ending {
    std::int64_t at;  // since view.now
    std::uint32_t gpus;
  };
  struct Reservation {
    std::int64_t at = std::numeric_limits<std::int64_t>::max();
    std::uint32_t spare = 0;  // GPUs free at `at` beyond what the first job needs
  };
  [[nodiscard]] static Reservation reserve(std::vector<Ending>& endings, std::uint32_t free,
                                           std::uint32_t want);
};

std::int64_t time_left(const JobView& job) {
  if (job.spec->duration <= Duration::zero()) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>((job.spec->duration - job.served).count(), 0);
}

Easy::Reservation Easy::reserve(std::vector<Ending>& endings, std::uint32_t free,
                                std::uint32_t want) {
  std::stable_sort(endings.begin(), endings.end(),
                   [](const Ending& a, const Ending& b) { return a.at < b.at; });
  for (const Ending& ending : endings) {
    free += ending.gpus;
    if (free >= want) return {ending.at, free - want};
  }
  return {};
}

void Easy::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  std::vector<Ending> endings;
  for (const JobView& job : view.running) {
    const auto here = static_cast<std::uint32_t>(
        std::count_if(job.placement.begin(), job.placement.end(),
                      [&](GpuId gpu) { return view.gpus.gpus().contains(gpu.value); }));
    endings.push_back({time_left(job), here});
  }
  std::optional<Reservation> first;
  const auto queue = index_.queue();
  failed_.assign(index_.kinds(), std::numeric_limits<std::uint32_t>::max());
  for (std::size_t i = 0; i < queue.size() && trial.free_count() > 0; ++i) {
    const JobView& job = index_.job(queue[i]);
    if (taken_[i] || job.blocked) continue;
    const std::int64_t length = time_left(job);
    const bool in_time = !first || length <= first->at || queue[i].gpus <= first->spare;
    const bool hope = queue[i].gpus <= trial.free_count() && queue[i].gpus < failed_[queue[i].kind];
    if (in_time && hope) {
      if (auto place = find_place(view, trial.gpus(), *job.spec)) {
        if (first && length > first->at) first->spare -= queue[i].gpus;
        trial.take(*place);
        endings.push_back({length, queue[i].gpus});
        out.emplace_back(Start{job.spec->id, std::move(*place)});
        taken_[i] = true;
        continue;
      }
      failed_[queue[i].kind] = queue[i].gpus;
    }
    if (!first && !queue[i].homeless) first = reserve(endings, trial.free_count(), queue[i].gpus);
  }
}

}  // namespace

void add_easy(PolicyRegistry& registry) {
  registry.add(
      kFacts,
      [](const PolicyOptions& given) -> Result<std::unique_ptr<Policy>> {
        OptionReader reader(kFacts.name, given);
        QueueOptions options;
        options.fit = reader.choice("fit", {"node", "count"}) == "count" ? Fit::count : Fit::node;
        if (const Status status = reader.status(); !status) return status.error();
        return std::unique_ptr<Policy>(std::make_unique<Easy>(options));
      },
      "fit=node|count");
}

}  // namespace starling
