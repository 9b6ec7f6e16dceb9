// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "policies/partitions/co_allocation.h"
#include "policies/partitions/moves.h"
#include "policies/partitions/remote_partitions.h"
#include "policies/parts/queue_index.h"
#include "policies/parts/queue_marks.h"
#include "scheduling/packing.h"

namespace starling {

/// Overflow routing: what a queue policy does, by free GPUs, with the jobs that cannot start in its
/// own partition. Policies that know speeds have ForwardingBySpeed.
///
/// * A job that another partition can start now, by its digest, is forwarded there.
/// * A job that is infeasible here (it has no room even when everything is free) goes to a
/// partition
/// that is large enough for it; if there is none, or if a gang of several servers has waited long,
/// and the flock together has room: it is
///   co-allocated.
/// * When nothing can start anywhere, queues are balanced: one much longer per GPU than another
///   forwards a job from its end.
///
/// A particular job, which asks for GPU types, CPUs or memory, can start where those go with free
/// GPUs of servers that it may have (RemoteRooms), and goes to no partition that could not hold it
/// when everything there is free.
///
/// Forwarded jobs count against the digest (RemotePartitions), and nothing bounces (moves.h). Ties
/// go to the next agent after this one, so that agents differ in whom they try first. Without other
/// partitions it does nothing.
class OverflowRouting {
 public:
  /// `needy`: how jobs are placed that ask for CPUs or memory.
  OverflowRouting(bool strict, Fit fit, Fit needy)
      : strict_(strict), fit_(fit), needy_fit_(needy) {}

  /// Free GPUs there are of no use to the job, whatever the digest says. None: they always are. A
  /// job that can never run here goes there all the same.
  using Veto = std::function<bool(const View& view, const JobView& job, AgentId to)>;
  void set_veto(Veto veto) { veto_ = std::move(veto); }

  /// Reads the digests. O(agents). False: there are no other partitions.
  bool begin(const View& view, const Shape& shape);
  /// Forwards new jobs to a partition that is emptier than this one and has room; sets their
  /// `taken`.
  void forward_to_emptier(const View& view, const QueueIndex& index, QueueMarks& taken,
                          std::vector<Decision>& out);
  /// For the jobs that are not `taken` (by position in the queue). `local` is what is left here.
  void decide(const View& view, const Shape& shape, const QueueIndex& index, QueueMarks& taken,
              Trial& local, std::vector<Decision>& out);
  /// After decide(): when the first of those may move that could start elsewhere, and came too
  /// lately to move at once. kNever: none.
  [[nodiscard]] Instant moves_from() const noexcept { return moves_from_; }

 private:
  [[nodiscard]] bool particular(const QueueEntry& entry) const {
    return entry.needy || (entry.typed && !one_type_);
  }
  [[nodiscard]] Fit fit_of(const QueueEntry& entry) const {
    return entry.needy ? needy_fit_ : fit_;
  }
  [[nodiscard]] bool is_out(const View& view, const JobView& job,
                            const RemotePartition& peer) const {
    return was_offered(job, peer.agent) || (veto_ && veto_(view, job, peer.agent));
  }
  [[nodiscard]] bool starts_elsewhere(const QueueEntry& entry) const;
  [[nodiscard]] bool can_start(const View& view, const RemotePartition& peer,
                               const QueueEntry& entry, const JobView& job);
  [[nodiscard]] bool could_hold(const View& view, const RemotePartition& peer,
                                const QueueEntry& entry, const JobView& job);
  [[nodiscard]] const RemotePartition* best_peer(const View& view, const QueueEntry& entry,
                                                 const JobView& job);
  [[nodiscard]] const RemotePartition* feasible_peer(const View& view, const QueueEntry& entry,
                                                     const JobView& job);
  void forward(const View& view, const RemotePartition& peer, const JobView& job,
               std::vector<Decision>& out);
  [[nodiscard]] bool asks_around(const View& view, const QueueEntry& entry) const;
  [[nodiscard]] bool try_spread(const View& view, const QueueEntry& entry, const JobView& job,
                                Trial& local, std::vector<Decision>& out);
  [[nodiscard]] bool try_spread_typed(const View& view, const QueueEntry& entry, const JobView& job,
                                      Trial& local, std::vector<Decision>& out);
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> room_to_spread(const View& view,
                                                                       const QueueEntry& entry,
                                                                       const JobView& job,
                                                                       const Trial& local);
  void balance_queues(const View& view, const Shape& shape, const QueueIndex& index,
                      const QueueMarks& taken, std::vector<Decision>& out);
  void measure();

  bool strict_;
  Fit fit_, needy_fit_;
  Veto veto_;
  bool one_type_ = true;
  std::uint32_t server_ = 1;  // GPUs of the commonest server here: what `whole` is counted in
  RemotePartitions peers_;
  CoAllocation gangs_;
  std::uint64_t state_ = 0;  // grows with all that can make room elsewhere, or less of it
  std::vector<std::uint64_t> roomless_;  // by look: when such particular jobs last found none
  std::uint32_t most_ = 0;               // no gang larger than this starts elsewhere now
  std::uint32_t most_particular_ = 0;    // the same of particular jobs
  std::uint64_t free_elsewhere_ = 0;
  std::uint64_t whole_elsewhere_ = 0;  // GPUs of wholly free servers
  Instant moves_from_ = kNever;
};

}  // namespace starling
