// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "base/time.h"
#include "scheduling/memory_bytes.h"

namespace starling {

/// What exploring may cost a partition, and what it has cost: GPU seconds of jobs that were placed
/// where the model is unsure, from their start until they end. It earns a part of all GPU time as
/// time goes by, at most kSaved of it, and a placement is explored only if what the job is expected
/// to take is there. Counts, too, how often each pair of job types was explored, of the kMostPairs
/// that were last. Deterministic.
class ExplorationBudget {
 public:
  static constexpr Duration kSaved = std::chrono::hours(12);
  static constexpr std::size_t kMostRunning = 1024, kMostPairs = 4096;

  /// `part`: of all GPU time, in [0, 1].
  explicit ExplorationBudget(double part) : part_(part) {}

  /// Time goes by in a partition of so many GPUs. The first call earns as much as it may save.
  void pass(Instant now, std::uint32_t gpus);
  /// GPU seconds that may be spent on what begins now.
  [[nodiscard]] double left() const noexcept { return earned_ - promised_; }
  [[nodiscard]] double spent() const noexcept { return spent_; }

  /// The job is placed to explore a pair; it is expected to take so many GPU seconds. It counts
  /// once it is found running.
  void begin(std::uint64_t order, std::uint32_t gpus, double gpu_seconds, std::uint64_t pair);
  /// A job runs, or is to begin, to explore: else keep_running() does nothing.
  [[nodiscard]] bool any_runs() const noexcept { return !running_.empty(); }
  /// By JobView::order, those that run here; `runs(order)` says whether one does. One that was to
  /// begin and does not run was refused; one that ran and does not has ended.
  template <class Runs>
  void keep_running(const Runs& runs);

  [[nodiscard]] std::uint32_t explored(std::uint64_t pair) const;
  /// Placements that were explored in all.
  [[nodiscard]] std::uint64_t begun() const noexcept { return begun_; }
  /// Grows when there is something new to be kept.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

  void save(MemoryWriter& out, Instant origin) const;
  /// Takes up what was saved if the reader is whole() then; else nothing has changed.
  void restore(MemoryReader& in, Instant origin);

 private:
  struct Running {
    std::uint32_t gpus = 0;
    double left = 0;  ///< GPU seconds that are expected still; what it takes beyond is spent, too
    std::uint64_t pair = 0;
    bool runs = false;  ///< it was found running
  };
  struct Count {
    std::uint32_t times = 0;
    std::uint64_t last = 0;  ///< number of the placement
  };
  void promise();
  void note(std::uint64_t pair);

  double part_;
  bool began_ = false;
  Instant last_;
  double earned_ = 0, promised_ = 0, spent_ = 0;  // GPU seconds; earned: not yet spent
  std::map<std::uint64_t, Running> running_;      // by order
  std::map<std::uint64_t, Count> pairs_;
  std::uint64_t begun_ = 0, version_ = 0;
};

/// The same for a pair of job types on a GPU type, whichever comes first.
[[nodiscard]] std::uint64_t explored_pair(std::string_view one, std::string_view other,
                                          std::uint16_t gpu_type);

template <class Runs>
void ExplorationBudget::keep_running(const Runs& runs) {
  for (auto at = running_.begin(); at != running_.end();) {
    Running& job = at->second;
    if (runs(at->first)) {
      if (!job.runs) note(job.pair);
      job.runs = true;
      ++at;
    } else {
      at = running_.erase(at);
      ++version_;
    }
  }
  promise();
}

}  // namespace starling
