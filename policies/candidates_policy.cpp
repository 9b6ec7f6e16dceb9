#include "policies/candidates_policy.h"

namespace starling {

std::vector<Decision> PlacementPolicy::decide(const View& view, const Trigger& trigger, Rng& rng) {
  candidates_.sync(view, facts().shares_gpus);
  return QueuePolicy::decide(view, trigger, rng);
}

void PlacementPolicy::start_here(const View& view, Trial& trial, std::vector<Decision>& out) {
  refused_.resize(index_.looks(), 0);
  const auto queue = index_.queue();
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const QueueEntry& entry = queue[i];
    if (taken_[i]) continue;
    const std::uint64_t version = candidates_.version();
    const bool hope = !entry.homeless && refused_[entry.look] != version;
    if (!hope && !options().strict) {
      passed_over(entry);
      continue;
    }
    const JobView& job = index_.job(entry);
    if (job.blocked) continue;
    if (hope) {
      const Wish wish = candidates_.wish(*job.spec, entry.look);
      if (auto placement = choose(view, wish, job)) {
        trial.take(*placement);
        candidates_.start(job, *placement);
        out.emplace_back(Start{job.spec->id, std::move(*placement)});
        taken_[i] = true;
        continue;
      }
      if (alike(job)) refused_[entry.look] = version;
    }
    passed_over(entry);
    // A gang that no data centre of this size can hold must not stop everyone for good.
    if (options().strict && entry.gpus <= view.topology.gpu_count()) return;
  }
}

}  // namespace starling
