// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "scheduling/packing.h"
#include "scheduling/policy.h"
#include "topology/free_servers.h"

namespace starling {

/// Where jobs of one plan go: a partition on which places are taken and given back, and who has
/// them.
///
/// A gang that one server holds goes to the server of its type where most speed is had: its own
/// beside those that will be there, less what these lose by it, in GPUs; of servers that differ by
/// less than a hundredth of its GPUs the fullest. Of all servers it looks at kTried, the fullest
/// first, and in one plan at kLooks; beyond, it takes the fullest. A larger gang goes evenly on as
/// few servers as hold it, or into a scale-up domain or rack that has room for it, wherever it is
/// faster.
class RankPlaces {
 public:
  static constexpr std::uint32_t kTried = 12;
  static constexpr std::uint32_t kLooks = 4096;

  /// As `gpus` is, with no job's name on it. Jobs and places that are named from here on must stay
  /// valid until the last call.
  void begin(const Occupancy& gpus, const Shape& shape);
  /// The job stays where it runs, with what it runs by.
  void stays(const JobView& job) { settle(job.spec, job.placement, job.allocation); }
  /// It is to be there, and its GPUs are taken.
  void take(const JobSpec* job, const Placement& placement, const Allocation& how);
  /// Its GPUs are free in the plan, and it is not there.
  void give_back(const JobSpec* job, const Placement& placement);

  [[nodiscard]] const Occupancy& gpus() const { return *gpus_; }
  [[nodiscard]] Occupancy& gpus() { return *gpus_; }
  /// Free GPUs, by type of the topology.
  [[nodiscard]] std::vector<std::uint32_t> free_by_type();
  [[nodiscard]] std::optional<Placement> find(const SpeedModel& speed, const JobSpec& job,
                                              std::uint32_t workers, GpuTypeId type);
  /// Progress of the job there, in that at the size that it asks for, with no job beside it.
  [[nodiscard]] static double pace(const SpeedModel& speed, const JobSpec& job,
                                   const Placement& placement);

 private:
  struct There {
    const JobSpec* job;
    const Placement* placement;  // of a job that stays, or in taken_
    Allocation how;
  };
  void settle(const JobSpec* job, const Placement& placement, const Allocation& how);
  [[nodiscard]] double worth_on(const SpeedModel& speed, const JobProfile& profile,
                                const Placement& placement, ServerId server) const;
  [[nodiscard]] std::optional<Placement> on_one_server(const SpeedModel& speed, const JobSpec& job,
                                                       std::uint32_t gpus, GpuTypeId type);
  [[nodiscard]] std::uint32_t kind_of(GpuTypeId type) const;

  Shape shape_;
  Mirror mirror_;
  Occupancy* gpus_ = nullptr;  // of the mirror
  FreeServers free_;
  std::vector<std::vector<There>> on_;  // by server of the partition
  std::deque<Placement> taken_;
  std::uint32_t looks_ = 0;
};

}  // namespace starling
