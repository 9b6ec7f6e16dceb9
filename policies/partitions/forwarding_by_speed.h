// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "policies/candidates/type_speeds.h"
#include "policies/partitions/moves.h"
#include "policies/partitions/remote_partitions.h"

namespace starling {

/// Another partition as a place for one waiting job.
struct Destination {
  AgentId to;
  GpuTypeId type;           ///< the one that it would run on there
  double speed = 0;         ///< alone on it; relative, as Speed
  bool starts = false;      ///< free GPUs enough now, by the digest
  bool one_server = false;  ///< and on one server
  double free = 0;          ///< free part of the GPUs of the type
  bool joins = false;       ///< GPUs enough there that a second job may join
  double open = 0;          ///< part of them that a second job may join
  double queue = 0;         ///< GPUs wanted there by those who wait, for each GPU
  std::span<const float> summary;
};

/// Forwarding by the speed of GPU types: to which other partitions a waiting job could go, for
/// policies that know speeds.
///
/// A partition counts by the GPU type on which the job would be fastest there: one with free GPUs
/// enough if there is one, else any that has as many GPUs. Forwarded jobs count against the
/// digest (RemotePartitions), and nothing bounces (moves.h). For a job that asks for CPUs or memory
/// GPUs count that those go with (RemoteRooms); but for GPUs to join: what is left beside those no
/// digest says.
class ForwardingBySpeed {
 public:
  static constexpr std::size_t kOptions = 4;
  /// What a job that starts elsewhere must gain in slowdown over the place it could have here: less
  /// is not worth the way.
  static constexpr double kWorthIt = 0.15;
  /// GPUs wanted for each GPU by which queues must differ before one that waits changes over.
  static constexpr double kCalmer = 0.25;

  /// Reads the digests. O(agents and their GPU types). False: there is none.
  bool begin(const View& view);
  [[nodiscard]] bool any() const noexcept { return peers_.any(); }
  /// Grows whenever a peer's digest changes, and with every job forwarded.
  [[nodiscard]] std::uint64_t version() const noexcept { return peers_.version(); }

  /// Speed of such a job alone on the best type here or elsewhere.
  [[nodiscard]] double best(const View& view, const PlacementRequest& request,
                            const JobProfile& profile);
  /// The kOptions best, those that would start it first, then by speed, then by queue; none slower
  /// than `threshold` of best(). True: there may be some once its time here has come.
  bool find(const View& view, const QueueEntry& entry, const JobView& job,
            const PlacementRequest& request, const JobProfile& profile, double threshold,
            std::vector<Destination>& out);
  /// Of `found`: the one that could start it now and beats `slowdown` (Candidate's, as a number) by
  /// kWorthIt.
  [[nodiscard]] static const Destination* faster(std::span<const Destination> found,
                                                 double slowdown);
  /// Where a job that cannot start here should wait: null: here. `here`: speed alone of the best
  /// type that this partition has, if that is enough for the job, else 0. `queue`: as
  /// Destination's. `tries`: it may go and see whether a job there will do to share with, which
  /// no digest says.
  [[nodiscard]] static const Destination* better_queue(std::span<const Destination> found,
                                                       double here, double queue, bool tries);
  /// The job may still do that: it has seen fewer partitions than there are.
  [[nodiscard]] bool may_try(const JobView& job) const { return job.forwards < peers_.count(); }
  /// Gives it the job: its GPUs count as taken there, see RemotePartitions.
  void forward(const View& view, const JobView& job, const Destination& to,
               std::vector<Decision>& out);

  /// GPUs of the type that are free elsewhere for the job.
  [[nodiscard]] std::uint64_t free_of(const View& view, GpuTypeId type, const JobSpec& job);
  /// The same that a second job may join, whatever CPUs and memory it asks for.
  [[nodiscard]] std::uint64_t open_of(GpuTypeId type) const;
  /// GPU types that are here or elsewhere, ascending.
  [[nodiscard]] std::span<const GpuTypeId> types() const noexcept { return peers_.all_types(); }
  [[nodiscard]] TypeSpeeds& speeds() noexcept { return speeds_; }

 private:
  /// The type of the partition on which the job is best off; speed 0: none will do.
  [[nodiscard]] Destination best_type(const View& view, const RemotePartition& peer,
                                      const JobView& job, const PlacementRequest& request,
                                      const JobProfile& profile, double least,
                                      const RemoteNeed* need);

  TypeSpeeds speeds_;
  RemotePartitions peers_;
};

}  // namespace starling
