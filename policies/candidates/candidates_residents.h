// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduling/policy.h"

namespace starling {

/// One running job as those beside it see it.
struct Resident {
  std::uint64_t order = ~0ULL;  ///< JobView::order; ~0: gone
  JobId job;
  Neighbour self;                      ///< without straggler_seed, which no policy can know
  std::uint32_t profile = 0;           ///< equal for equal profiles
  std::vector<std::uint32_t> servers;  ///< of this partition, ascending
  std::uint32_t open = 0;              ///< of its GPUs here, those where no other is known
  std::uint32_t group = ~0U;           ///< see Residents::Group; ~0: nothing open
  double speed = 0;      ///< predicted now; 0: not asked since a job beside it came or went
  Duration estimate{0};  ///< spec.duration
  std::uint64_t recurring_group = 0;  ///< recurring_group_of() its spec
  Instant submitted;
  Duration served{0};  ///< at `seen`
  Instant seen;
  double work_s = 0;  ///< done at speed 1 by `work_at`; only where progress is followed
  Instant work_at;
};

/// Equal for jobs of one user, queue and gang size (and hardly ever for others).
[[nodiscard]] std::uint64_t recurring_group_of(const JobSpec& spec);

/// What runs in one partition, as far as its home knows, followed from call to call: what did not
/// change costs nothing but a few comparisons. Relies on what View::running promises: jobs leave
/// anywhere and come at the end.
class Residents {
 public:
  static constexpr std::uint32_t kNone = ~0U;
  /// Residents that are alike to a job that wants to share their GPUs: profile, GPU type, servers
  /// spanned and GPUs open. The lowest stands for all.
  struct Group {
    std::uint32_t profile = 0;
    std::uint32_t gpus = 0;
    std::uint32_t open = 0;
    std::uint32_t servers = 0;
    GpuTypeId type;
    std::set<std::pair<GpuId, std::uint32_t>> members;  ///< first GPU, slot
  };

  /// A job came here or left.
  struct Move {
    bool ended = false;
    bool worked =
        false;  ///< a second since it was seen first, and it is over; less is a start that
                ///< was refused
    std::uint64_t order = 0, recurring_group = 0;
    Instant submitted;
    Instant since;      ///< of one that came: had it run without a break
    double work_s = 0;  ///< of one that ended: what it took at speed 1
  };

  /// `follow`: also integrate the predicted speeds into work_s, and keep Moves.
  explicit Residents(bool follow) : follow_(follow) {}

  void sync(const View& view);
  /// A job that the policy starts now. If it does not come to be, the next sync() forgets it.
  void add(JobView job, const Placement& placement, Instant now);
  /// The job is stopped, and not over. If it goes on all the same, the next sync() finds it again.
  void leave(std::uint64_t order, Instant now);

  [[nodiscard]] const Resident& at(std::uint32_t slot) const { return slots_[slot]; }
  /// Slots by server of the partition, counted from its first.
  [[nodiscard]] std::span<const std::uint32_t> on(std::uint32_t server) const {
    return on_server_[server];
  }
  [[nodiscard]] std::size_t count() const noexcept { return running_.size(); }
  /// Slots of the jobs of View::running, in its order, then of those added since.
  [[nodiscard]] std::span<const std::uint32_t> running() const noexcept { return running_; }
  /// The only known tenant of the GPU; kNone: none, or two.
  [[nodiscard]] std::uint32_t tenant(GpuId gpu) const;
  /// Exactly one job is on it, it is known here, and there is room.
  [[nodiscard]] bool open(const View& view, GpuId gpu) const;
  [[nodiscard]] const std::vector<Group>& groups() const noexcept { return groups_; }
  /// Indices of groups that have members, in no order that means anything.
  [[nodiscard]] std::span<const std::uint32_t> live_groups() const noexcept { return live_; }
  [[nodiscard]] std::uint32_t open_on(std::uint32_t server) const { return open_on_[server]; }

  [[nodiscard]] std::uint32_t profile_id(const JobProfile& profile);
  [[nodiscard]] const JobProfile& profile(std::uint32_t id) const { return *profiles_[id]; }
  [[nodiscard]] std::uint32_t profiles() const noexcept {
    return static_cast<std::uint32_t>(profiles_.size());
  }
  /// Grows when a job comes to the server or leaves it.
  [[nodiscard]] std::uint64_t version(std::uint32_t server) const { return versions_[server]; }
  /// Grows with every change.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  [[nodiscard]] IndexRange servers() const noexcept { return servers_; }
  /// Servers to which a job came, or that a job left, since this was last asked.
  [[nodiscard]] std::vector<std::uint32_t> take_changed() { return std::exchange(changed_, {}); }
  /// Predicted speed now, among all that are beside it.
  double speed(const SpeedModel& model, std::uint32_t slot);
  /// The model has learned: all are asked anew.
  void forget_speeds(Instant now);
  /// Since this was last asked, in their order; a follower has to ask.
  [[nodiscard]] std::vector<Move> take_moves() { return std::exchange(moves_, {}); }

 private:
  using ProfileKey =
      std::tuple<std::string, std::uint32_t, double, std::uint32_t, std::uint32_t, double>;
  using GroupKey =
      std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint16_t>;  // as in Group
  void reset(const Occupancy& gpus);
  std::uint32_t admit(const JobView& job, Instant now);
  void remove(std::uint32_t slot, Instant now, bool over = true);
  void touch(std::uint32_t server, Instant now);
  void regroup(std::uint32_t slot);
  void leave_group(std::uint32_t slot);
  void accrue(Resident& job, Instant now);
  [[nodiscard]] std::size_t first_change(std::span<const JobView> running) const;

  bool follow_;
  const Topology* topology_ = nullptr;
  IndexRange servers_, gpus_;
  std::vector<Resident> slots_;
  std::vector<std::uint32_t> spare_;
  std::vector<std::uint32_t> running_;                 // slots, in start order
  std::vector<std::vector<std::uint32_t>> on_server_;  // slots
  std::vector<std::uint32_t> open_on_;                 // by server
  std::vector<std::uint8_t> known_;                    // by GPU: residents
  std::vector<std::uint32_t> xor_;                     // by GPU: of their slots
  std::vector<std::uint64_t> versions_;                // by server
  std::vector<std::uint32_t> stale_;                   // whose speed is to be asked anew
  std::map<ProfileKey, std::uint32_t> profile_ids_;
  std::vector<const JobProfile*> profiles_;
  std::map<std::uint32_t, JobProfile> profile_store_;
  std::map<GroupKey, std::uint32_t> group_ids_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> live_, live_at_;
  std::vector<Move> moves_;
  std::vector<std::uint32_t> changed_;
  Neighbours beside_;
  std::uint64_t version_ = 1;
};

}  // namespace starling
