// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "policies/partitions/cooperate.h"
#include "policies/partitions/remote_rooms.h"
#include "policies/placement/type_speeds.h"

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

/// Where else a waiting job could go, for policies that know speeds.
///
/// A partition counts by the GPU type on which the job would be fastest there: one with free GPUs
/// enough if there is one, else any that has as many GPUs. Room that was given away is remembered
/// until the target's digest changes. A job goes to no agent that it was offered to from here, and
/// after n forwards stays 2^(n-1) s, at most ten minutes, so nothing bounces. After
/// 2 n + 4 moves, n others being heard of, it goes only where it would start, or it would stay
/// where chance left it while GPUs are free elsewhere; after three times as many it goes nowhere.
/// For a job that asks for CPUs or memory GPUs count that those go with (RemoteRooms); but for GPUs
/// to join: what is left beside those no digest says.
class Elsewhere {
 public:
  static constexpr std::size_t kOptions = 4;
  /// What a job that starts elsewhere must gain in slowdown over the place it could have here: less
  /// is not worth the way.
  static constexpr double kWorthIt = 0.15;
  /// GPUs wanted for each GPU by which queues must differ before one that waits changes over.
  static constexpr double kCalmer = 0.25;

  /// Reads the digests. O(agents and their GPU types). False: there is nobody.
  bool begin(const View& view);
  [[nodiscard]] bool any() const noexcept { return !rooms_.empty(); }
  /// Grows whenever anybody's digest changes, and with every give().
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

  /// Speed of such a job alone on the best type here or elsewhere.
  [[nodiscard]] double best(const Wish& wish, const JobProfile& profile);
  /// The kOptions best, those that would start it first, then by speed, then by queue; none slower
  /// than `threshold` of best(). True: there may be some once its time here has come.
  bool find(const View& view, const QueueEntry& entry, const JobView& job, const Wish& wish,
            const JobProfile& profile, double threshold, std::vector<Destination>& out);
  /// Of `found`: the one that could start it now and beats `slowdown` (Candidate's, as a number) by
  /// kWorthIt.
  [[nodiscard]] static const Destination* faster(std::span<const Destination> found,
                                                 double slowdown);
  /// Where a job that cannot start here should wait: null: here. `here`: speed alone of the best
  /// type that this partition has, if that is enough for the job, else 0. `queue`: as
  /// Destination's. `tries`: it may go and see whether somebody there will do to share with, which
  /// no digest says.
  [[nodiscard]] static const Destination* better_queue(std::span<const Destination> found,
                                                       double here, double queue, bool tries);
  /// The job may still do that: it has seen fewer partitions than there are.
  [[nodiscard]] bool may_try(const JobView& job) const { return job.forwards < rooms_.size(); }
  void give(const View& view, const Destination& to, const JobSpec& job);

  /// GPUs of the type that are free elsewhere for the job.
  [[nodiscard]] std::uint64_t free_of(const View& view, GpuTypeId type, const JobSpec& job);
  /// GPU types that are here or elsewhere, ascending.
  [[nodiscard]] std::span<const GpuTypeId> types() const noexcept { return types_; }
  [[nodiscard]] TypeSpeeds& speeds() noexcept { return speeds_; }

 private:
  struct Part {
    GpuTypeId type;
    std::uint32_t gpus = 0;
    std::uint32_t free = 0, largest = 0, open = 0;
  };
  struct Room {
    AgentId agent;
    std::uint32_t gpus = 0;
    std::uint64_t waiting_gpus = 0;
    std::uint32_t turn = 0;                // distance from this agent
    std::uint32_t first = 0, last = 0;     // of parts_
    const RemoteDigest* digest = nullptr;  // valid while begin()'s view is
    RemoteRooms servers = {};              // once somebody asks for CPUs or memory
  };
  /// What of a partition stays as it is.
  struct Known {
    AgentId agent;
    IndexRange servers;
    std::vector<Part> parts;
  };
  struct Pledge {
    AgentId agent;
    RemoteNeed need;           // of one type
    std::uint64_t digest = 0;  // what the target had said
    Instant at;
  };
  [[nodiscard]] const Known& known(const View& view, AgentId agent, IndexRange servers);
  [[nodiscard]] static std::uint64_t hash_of(const RemoteDigest& digest);
  [[nodiscard]] RemoteRooms& servers_of(const View& view, Room& room);
  void use(AgentId agent, const RemoteNeed& need);

  TypeSpeeds speeds_;
  std::vector<Room> rooms_;
  std::vector<Part> parts_;
  std::vector<Known> known_;  // by agent
  std::vector<Pledge> pledges_;
  RemoteCapacity capacity_;
  std::vector<GpuTypeId> types_;  // here or elsewhere, ascending
  std::uint64_t version_ = 1, seen_ = 0;
};

}  // namespace starling
