// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "policies/partitions/remote_rooms.h"
#include "policies/queues/queue_index.h"
#include "policies/queues/queue_marks.h"
#include "scheduling/packing.h"

namespace starling {

/// How long a job that was forwarded n times stays before the next time: 2^(n-1) s, at most ten
/// minutes.
[[nodiscard]] Duration forward_backoff(std::uint32_t n);
/// When a gang may ask around again after `failed` rounds. Never in step with another gang: two
/// that both need the whole flock would be in each other's way every time, for ever.
[[nodiscard]] Duration until_next_round(JobId job, std::uint32_t failed);

/// What a queue policy with neighbours does with the jobs that cannot start here.
///
/// * A job that another partition can start now, by its digest, is forwarded there.
/// * A job that cannot ever start here goes to a partition that is large enough for it; if there is
/// none,
///   or if a gang of several servers has waited long, and the flock together has room: Spread.
/// * When nothing can start anywhere, a queue much longer per GPU than another's gives its last job
/// away.
///
/// A job that asks for CPUs or memory can start where those go with free GPUs of servers that it
/// may have (RemoteRooms), and goes to no partition that could not hold it when everything there is
/// free.
///
/// A job goes to no agent that it was offered to from here: the core would refuse. Room that was
/// given to a forwarded job is remembered until the target's digest changes, and a job that was
/// forwarded n times stays 2^(n-1) s before the next time, so nothing bounces. Digests older than
/// kDigestFresh are ignored. Ties go to the next agent after this one, so that neighbours differ in
/// whom they try first. Without neighbours it does nothing.
class Cooperation {
 public:
  static constexpr Duration kDigestFresh = std::chrono::minutes(5);
  static constexpr Duration kPledge = std::chrono::seconds(5);
  static constexpr Duration kPatience =
      std::chrono::minutes(10);  ///< before a gang that fits here is spread
  static constexpr std::uint32_t kForwardsPerCall = 16;

  /// `needy`: how jobs are placed that ask for CPUs or memory.
  Cooperation(bool strict, Fit fit, Fit needy) : strict_(strict), fit_(fit), needy_fit_(needy) {}

  /// Reads the digests. O(agents). False: there is nobody to cooperate with.
  bool begin(const View& view, const Shape& shape);
  /// Forwards new jobs to a partition that is emptier than this one and has room; sets their
  /// `taken`.
  void forward_to_emptier(const View& view, const QueueIndex& index, QueueMarks& taken,
                          std::vector<Decision>& out);
  /// For the jobs that are not `taken` (by position in the queue). `local` is what is left here.
  void decide(const View& view, const Shape& shape, const QueueIndex& index, QueueMarks& taken,
              Trial& local, std::vector<Decision>& out);

 private:
  struct Room {
    AgentId agent;
    std::uint32_t gpus = 0, free = 0, largest = 0, whole = 0, waiting = 0;
    std::uint64_t waiting_gpus = 0;
    std::uint32_t digest_free = 0;
    std::uint32_t turn = 0;                ///< distance from this agent
    const RemoteDigest* digest = nullptr;  ///< valid while begin()'s view is
    RemoteRooms servers = {};              // once somebody asks for CPUs or memory
  };
  struct Pledge {
    AgentId agent;
    RemoteNeed need;
    std::uint32_t free = 0, waiting = 0;
    Instant at;
  };
  [[nodiscard]] bool starts_elsewhere(const QueueEntry& entry) const;
  [[nodiscard]] bool can_start(const Room& room, std::uint32_t gpus) const;
  [[nodiscard]] bool can_start(const View& view, Room& room, const QueueEntry& entry,
                               const JobView& job);
  [[nodiscard]] bool could_hold(const View& view, const Room& room, const QueueEntry& entry,
                                const JobView& job);
  [[nodiscard]] RemoteRooms& servers_of(const View& view, Room& room);
  [[nodiscard]] Room* best_room(const View& view, const QueueEntry& entry, const JobView& job);
  [[nodiscard]] Room* home_for(const View& view, const QueueEntry& entry, const JobView& job);
  [[nodiscard]] bool may_move(const View& view, const QueueEntry& entry, const JobView& job) const;
  void use(Room& room, const RemoteNeed& need) const;
  void forward(const View& view, Room& room, const JobView& job, std::vector<Decision>& out);
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> room_to_spread(const View& view,
                                                                       const QueueEntry& entry,
                                                                       const JobView& job,
                                                                       const Trial& local);
  [[nodiscard]] bool try_spread(const View& view, const QueueEntry& entry, const JobView& job,
                                Trial& local, std::vector<Decision>& out);
  void give_away_last(const View& view, const Shape& shape, const QueueIndex& index,
                      const QueueMarks& taken, std::vector<Decision>& out);
  void measure();

  bool strict_;
  Fit fit_, needy_fit_;
  bool one_type_ = true;
  std::uint32_t server_ = 1;  // GPUs of the commonest server here: what `whole` is counted in
  std::vector<Room> rooms_;
  std::vector<Pledge> pledges_;
  RemoteCapacity capacity_;
  std::uint64_t state_ = 0;  // grows with all that can make room elsewhere, or less of it
  std::vector<std::uint64_t> roomless_;  // by look: when such needy jobs last found none
  std::uint32_t most_ = 0;               // no gang larger than this starts elsewhere now
  std::uint32_t most_needy_ = 0;         // the same of those who ask for CPUs or memory
  std::uint64_t free_elsewhere_ = 0;
  std::uint64_t whole_elsewhere_ = 0;  // GPUs of wholly free servers
  struct Tried {
    std::uint64_t order;
    Instant again;
  };
  std::vector<Tried> spreads_;  // gangs that asked around lately
};

}  // namespace starling
