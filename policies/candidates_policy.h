#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "policies/candidates.h"
#include "policies/queue_policy.h"

namespace starling {

/// A policy of family A: in the order of arrival every waiting job gets a place or is passed over.
/// What it does is choose(). A look that got no place is not asked about again until something
/// changes.
class PlacementPolicy : public QueuePolicy {
 public:
  explicit PlacementPolicy(const QueueOptions& options, bool follow = false)
      : QueuePolicy(options), candidates_(follow) {}
  [[nodiscard]] std::vector<Decision> decide(const View& view, const Trigger& trigger,
                                             Rng& rng) override;

 protected:
  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }
  [[nodiscard]] bool idle(const View& view) const override {
    return view.gpus.free_count() == 0 && !candidates_.room_to_share();
  }
  [[nodiscard]] bool fits_empty(const JobSpec& job) const override {
    return candidates_.fits(job, empty());
  }
  void start_here(const View& view, Trial& trial, std::vector<Decision>& out) override;

  /// Where the job starts now; nothing: it waits.
  [[nodiscard]] virtual std::optional<Placement> choose(const View& view, const Wish& wish,
                                                        const JobView& job) = 0;
  /// Whether a refusal stands for all that look like the job, until something changes.
  [[nodiscard]] virtual bool alike(const JobView&) const { return true; }
  /// Called of every job that waits on, in the order of the queue.
  virtual void passed_over(const QueueEntry&) {}
  /// Somebody runs here, so a job that waits will see a change.
  [[nodiscard]] static bool busy(const View& view) { return view.gpus.busy_count() > 0; }

  Candidates candidates_;

 private:
  std::vector<std::uint64_t> refused_;  // by look: the version of candidates_ at that time
};

}  // namespace starling
