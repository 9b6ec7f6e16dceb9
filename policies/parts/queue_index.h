// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "scheduling/policy.h"
#include "topology/demand.h"

namespace starling {

/// One waiting job in the order in which it is to be tried.
struct QueueEntry {
  std::int32_t priority = 0;  ///< of the job: larger is tried first, whatever the key
  std::int64_t key = 0;       ///< the policy's: smaller is tried first
  Instant submitted;          ///< breaks ties of key, so a forwarded job keeps its seniority
  std::uint64_t order = 0;    ///< breaks the rest; names the job
  Instant since;              ///< when it was first seen waiting here
  Duration served{0};
  std::uint32_t gpus = 1;
  std::uint32_t kind = 0;   ///< equal for jobs that differ in gang size alone and are packed alike
  std::uint32_t look = 0;   ///< equal for jobs of one kind, gang size and model
  bool typed = false;       ///< asks for GPU types
  bool needy = false;       ///< asks for CPUs or memory
  bool infeasible = false;  ///< has no room here even when everything is free
};

/// The waiting jobs by priority and, where that is equal, by a policy's key, kept across calls:
/// what did not change costs a comparison. The key of a job must stay the same while it waits with
/// the same `served`.
class QueueIndex {
 public:
  using KeyOf = std::function<std::int64_t(const JobView&)>;
  using OfSpec = std::function<bool(const JobSpec&)>;
  /// `fits_empty`: there is room for the job when everything is free. `in_pieces`:
  /// goes_in_pieces(), or any other rule after which gangs of a kind are packed in one of two ways;
  /// empty: in one.
  QueueIndex(KeyOf key_of, OfSpec fits_empty, OfSpec in_pieces = {});

  /// Takes over what waits now. `waiting` must stay valid until the next call. With `changes`,
  /// which must be of the same list in every call, it costs what has changed, else a look at every
  /// job.
  void sync(std::span<const JobView> waiting, Instant now, const WaitingChanges* changes = nullptr);
  [[nodiscard]] std::span<const QueueEntry> queue() const noexcept { return queue_.entries(); }
  [[nodiscard]] const JobView& job(const QueueEntry& entry) const;
  /// More than any QueueEntry::kind.
  [[nodiscard]] std::size_t kinds() const noexcept { return 2 * wants_.size(); }
  [[nodiscard]] std::size_t looks() const noexcept { return looks_.size(); }
  [[nodiscard]] std::uint64_t total_gpus() const noexcept { return total_gpus_; }
  [[nodiscard]] std::size_t infeasible() const noexcept { return infeasible_; }
  /// Some job, of those seen so far, had a priority other than 0.
  [[nodiscard]] bool prioritised() const noexcept { return prioritised_; }

 private:
  /// What a gang asks for beside its size.
  struct Wants {
    std::vector<std::string> gpu_types;
    std::uint32_t gpus_per_worker = 1;
    Demand each = {};
    friend auto operator<=>(const Wants&, const Wants&) = default;
  };
  struct Gang {
    std::uint32_t wants = 0, gpus = 1;
    bool lone = false;  // one worker
    friend auto operator<=>(const Gang&, const Gang&) = default;
  };
  struct Room {
    bool infeasible = false, in_pieces = false;
  };
  struct Look {
    std::string model;
    std::uint32_t kind = 0, gpus = 1;
    double cpus_per_worker = 0;  // equal demands may be of workers that differ
    RunDetails run = {};
    friend auto operator<=>(const Look&, const Look&) = default;
  };
  /// A row of entries that loses most of them at its front: they are moved now and then only.
  class Row {
   public:
    [[nodiscard]] std::span<QueueEntry> entries() noexcept {
      return std::span<QueueEntry>(all_).subspan(first_);
    }
    [[nodiscard]] std::span<const QueueEntry> entries() const noexcept {
      return std::span<const QueueEntry>(all_).subspan(first_);
    }
    /// The `count` first ones are gone.
    void pop(std::size_t count);
    /// Only the `count` first ones stay.
    void cut(std::size_t count) { all_.resize(first_ + count); }
    void push(const QueueEntry& entry) { all_.push_back(entry); }

   private:
    std::vector<QueueEntry> all_;
    std::size_t first_ = 0;
  };
  QueueEntry make(const JobView& job, Instant now);
  void apply(std::vector<QueueEntry>& removed, std::vector<QueueEntry>& added);

  KeyOf key_of_;
  OfSpec fits_empty_, in_pieces_;
  std::span<const JobView> waiting_;
  std::vector<JobView> sorted_;     // only if the caller's order was not ascending
  Row arrivals_;                    // by order: what was seen last
  std::vector<QueueEntry> next_;    // scratch
  Row queue_;                       // by priority, key, submitted, order
  std::uint64_t seen_changes_ = 0;  // how many of them
  std::map<Wants, std::uint32_t> wants_;
  std::map<Look, std::uint32_t> looks_;
  std::map<Gang, Room> rooms_;
  std::uint64_t total_gpus_ = 0;
  std::size_t infeasible_ = 0;
  bool prioritised_ = false;
};

}  // namespace starling
