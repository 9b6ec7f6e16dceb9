// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "topology/occupancy.h"
#include "topology/placement.h"
#include "topology/shape.h"
#include "workload/job.h"
#include "workload/requirements.h"

namespace starling {

/// Where a gang may sit. count: on any free GPUs. server: a gang of at most a server's size within
/// one server by best fit, a larger one on wholly free servers.
enum class Fit : std::uint8_t { count, server };

/// shape_of(), counting the GPUs that such a job could have of empty servers: those that its type,
/// CPUs and memory go with.
[[nodiscard]] Shape shape_for(const Occupancy& gpus, const JobSpec& job);
/// GPUs of one server that whole workers can use; all of them for a worker that no server holds.
[[nodiscard]] std::uint32_t usable(std::uint32_t server_gpus, std::uint32_t gpus_per_worker);

/// All answers are ascending, exactly the gang's size and free in `gpus`; nothing if there is no
/// room.

/// The lowest free GPUs, wherever they are.
[[nodiscard]] std::optional<Placement> place_count(const Occupancy& gpus, std::uint32_t count);

/// One server by best fit (fewest free GPUs, then lowest index) where one has room. A gang larger
/// than shape.server otherwise takes wholly free servers of that size, lowest first, and its
/// remainder by best fit; any gang within one scale-up domain where one has room, as
/// place_in_domain(). Where not even an empty partition has the servers for that
/// (goes_in_pieces()): as place_workers() takes them. Workers are not split over servers unless one
/// is larger than a server.
[[nodiscard]] std::optional<Placement> place_server(const Occupancy& gpus, const Shape& shape,
                                                    std::uint32_t count,
                                                    std::uint32_t gpus_per_worker);

/// Over several servers of the scale-up domain with the fewest free GPUs that has room: wholly free
/// ones of its commonest size, and the remainder by best fit. Nothing without domains.
[[nodiscard]] std::optional<Placement> place_in_domain(const Occupancy& gpus, std::uint32_t count,
                                                       std::uint32_t gpus_per_worker);

/// As `fit` says, domains included, on servers whose GPU type the job allows and that have its CPUs
/// and memory left. Where no server is ever wholly for such a job, as many of its GPUs count as a
/// whole server as it could have of an empty one.
[[nodiscard]] std::optional<Placement> place(const Occupancy& gpus, const Shape& shape,
                                             const JobSpec& job, Fit fit);

/// place() takes whole workers wherever there is room, because the servers that this gang goes with
/// differ too much in size for whole ones. Constant for a partition. Where a gang finds no place,
/// no larger one finds one that differs from it in size alone, if this is equal for both; if it is
/// not, the larger one, which goes in pieces, may.
[[nodiscard]] bool goes_in_pieces(const Occupancy& gpus, const JobSpec& job, Fit fit);

/// As many whole workers as there is room for, at most `want` GPUs: wholly free servers first as
/// long as workers fill them, then best fit. May be empty.
[[nodiscard]] Placement place_workers(const Occupancy& gpus, std::uint32_t want,
                                      std::uint32_t gpus_per_worker, Demand each = {});

/// A copy of an occupancy to try things on, kept from call to call: making it equal again costs
/// what changed on either side.
class Mirror {
 public:
  /// The copy, equal to `base` now.
  [[nodiscard]] Occupancy& of(const Occupancy& base);

 private:
  std::optional<Occupancy> copy_;
};

/// What a call has promised so far, on a mirror of what there is. One at a time per mirror.
class Trial {
 public:
  Trial(Mirror& mirror, const Occupancy& base) : gpus_(mirror.of(base)) {}
  [[nodiscard]] std::uint32_t free_count() const noexcept { return gpus_.free_count(); }
  [[nodiscard]] const Occupancy& gpus() const noexcept { return gpus_; }
  void take(const Placement& placement, Demand each = {}) { gpus_.take(placement, each); }
  void give_back(const Placement& placement, Demand each = {}) { gpus_.give_back(placement, each); }

 private:
  Occupancy& gpus_;
};

}  // namespace starling
