// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "policies/hadar/gang_queue.h"
#include "scheduling/policy.h"

namespace starling {

/// Further copies of jobs that may be forked: HadarE's step, by our reading of its abstract.
///
/// A copy is a gang of whole workers on one server, at most as many as the job asks for, and of a
/// job at most one to a server; their paces add up, times what averaging leaves of a sample. They
/// come of GPUs that no other job wants, so no job is kept out by a copy. Each server in turn goes
/// to the job whose utility grows most for each GPU.
class ForkedCopies {
 public:
  /// Progress of a sample where copies are averaged, in (0, 1].
  explicit ForkedCopies(double efficiency) : efficiency_(efficiency) {}

  /// A job of the round that may be forked.
  struct Forking {
    const JobView* job = nullptr;
    const GangJob* gang = nullptr;
    ChosenGang* chosen = nullptr;  ///< its first copy, on one server; comes out with all of them
  };
  /// Takes what the copies get in `planned`. A job that runs keeps its copies where they are unless
  /// others pay for a restart.
  void extend(const View& view, std::vector<Forking>& jobs, Occupancy& planned);
  /// Pace of one copy of so many workers, in that of the job as it asks.
  [[nodiscard]] double pace(const View& view, const JobSpec& job, ServerId server,
                            std::uint32_t workers);
  void forget() { known_.clear(); }

 private:
  struct Fork;
  [[nodiscard]] double all_of(const Fork& fork, double more = 0) const;
  [[nodiscard]] Fork begin(const View& view, Forking& forking);
  [[nodiscard]] std::uint32_t room(const Fork& fork, const Occupancy& planned,
                                   ServerId server) const;
  void add(const View& view, Fork& fork, ServerId server, std::uint32_t workers,
           Occupancy& planned);
  void grow(const View& view, std::vector<Fork>& forks, Occupancy& planned);
  void finish(const View& view, Fork& fork, Occupancy& planned);

  /// Model, workers asked for, GPUs and CPUs of each, what the job says of itself, GPU type,
  /// workers.
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, double, RunDetails,
                         std::uint16_t, std::uint32_t>;
  double efficiency_;
  std::map<Key, double> known_;
};

}  // namespace starling
