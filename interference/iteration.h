// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interference/contention.h"
#include "interference/speed.h"
#include "topology/topology.h"
#include "workload/catalogue.h"

namespace starling {

/// How far IterationForm is off, as a part of what a placement loses: it misses Pollux' and
/// Chronus' relative speeds by 0.15 on average, where those were a half.
constexpr double kFormError = 0.3;

/// What a worker computes between two exchanges.
struct GradientWork {
  double part = 1;              ///< of the time that the model's own batch takes
  std::uint32_t gradients = 1;  ///< one after another; the exchange overlaps with the last
  std::uint32_t servers = 0;    ///< parameter servers; 0: as many as the job says
};

/// What a gang that leaves its rack has of the links beyond its servers, where that is known.
struct NetworkShare {
  double bytes_per_s = 0;  ///< of each server, or scale-up domain, in one direction, at most
  double sync_s = 0;       ///< an exchange takes no less
  double step_s = 0;       ///< nor does an iteration, whatever the gang computes
  friend bool operator==(const NetworkShare&, const NetworkShare&) = default;
};

/// Iteration time of a synchronous data-parallel job on one topology, in Pollux' form (OSDI 2021)
/// over five tiers:
///
///   T = (T_grad^gamma + T_sync^gamma)^(1/gamma)
///   T_grad = time on the slowest GPU type, times host contention of its worst server (CPUs that
///            all jobs ask on that server / its cores, if above 1; jobs on one GPU ask what the
///            hungriest of them does, for each computes but a part of the time), divided by the
///            speed beside the jobs on its worst GPU (interference/sharing.h; kThrashing of
///            interference/memory.h where the GPU has not the memory for them), and by that of the
///            gang's slowest GPU where `each_gpu` says that GPUs of one type differ
///   T_sync: see interference/sync.h; gamma is 2 where it was not fitted
///
/// With parameter servers the batch is that of the size asked for, divided among the workers, so
/// T_grad shrinks as they grow in number; with all-reduce every worker has a batch of its own. CPUs
/// of parameter servers are asked of the servers that the gang is on, by its GPUs there.
///
/// Traffic that leaves a server also crosses its island and its PCIe, so a farther tier is never
/// faster on servers of one kind. A NIC is shared evenly with the other gangs that leave the same
/// server. What others use of a rack's uplinks is not known here, so each server of the rack has
/// its even share of them.
///
/// Within a scale-up domain a gang's exchange runs at the domain's speed of each GPU, as on an
/// island: the ring is bound by its slowest link (Patarasuk and Yuan 2009), and domains are built
/// so that GPUs do not share links (NVLink switches do not block; slices of a torus have their own
/// rings), so gangs of one domain do not slow one another. A gang leaves its domain through the
/// NICs of all its servers in it, as collectives in steps do (reduce within, exchange across), so
/// what crosses is bound by their sum and not by one NIC.
///
/// Pure. Neighbours that share no server with the job do not count.
class IterationForm {
 public:
  /// How much of the co-located jobs' pressure on memory and PCIe counts: 0 in the analytic model.
  /// `contention` must outlive the form. `each_gpu`: Topology::gpu_speed() counts, not its type
  /// alone; a gang goes as its slowest. The best placement is one of GPUs as fast as their type.
  IterationForm(const Topology& topology, double pressure,
                const Contention& contention = fitted_contention(), bool each_gpu = false);

  /// Seconds per iteration of `job` on `placement` beside the others. At least one GPU.
  [[nodiscard]] double iteration_s(const JobProfile& job, const Placement& placement,
                                   const Neighbours& beside) const;
  /// The same where the workers compute that much, and not what `job` says.
  [[nodiscard]] double iteration_s(const JobProfile& job, const Placement& placement,
                                   const Neighbours& beside, const GradientWork& work,
                                   const NetworkShare* share = nullptr) const;
  /// Seconds alone on the best `gpus` GPUs of the fastest type. A lower bound where that type is
  /// too few or comes in unequal servers.
  [[nodiscard]] double best_s(const JobProfile& job, std::uint32_t gpus) const;
  /// See SpeedModel::scaling.
  [[nodiscard]] double scaling(const JobProfile& job) const;
  /// best_s / iteration_s, in (0, 1]; 1 for an empty placement.
  [[nodiscard]] double relative(const JobProfile& job, const Placement& placement,
                                const Neighbours& beside,
                                const NetworkShare* share = nullptr) const;
  /// A gang's exchange with no job beside it, where the network gives at most so many bytes per
  /// second beyond its NICs.
  struct Exchange {
    double bytes = 0;        ///< of each server or scale-up domain, see network_bytes
    double bytes_per_s = 0;  ///< of its slowest way out
    double sync_s = 0;
    double iteration_s = 0;
  };
  [[nodiscard]] Exchange exchange_alone(const JobProfile& job, const Placement& placement,
                                        double bytes_per_s_max) const;
  [[nodiscard]] const Topology& topology() const noexcept { return topology_; }

 private:
  // Bandwidths are bytes per second, after what protocols take of them.
  struct Host {
    IndexRange gpus;
    std::uint32_t rack = 0;
    std::uint32_t island_gpus = 1;
    GpuKind kind = GpuKind::other;
    double cpus = 0;
    double gpu_memory_gib = 0;
    double island = 0;
    double pcie = 0;
    double nic = 0;
    double uplink = 0;                   // even share of the rack's uplinks
    double domain = 0;                   // of each GPU; 0: of no scale-up domain
    std::span<const double> gpu_speeds;  // empty: all 1, or not to be known
    std::uint32_t exit = 0;  // server from which those are counted that leave by the same uplinks
  };
  // Servers of the fastest type that are alike.
  struct Kind {
    Host host;
    std::uint32_t servers = 0;
    std::uint32_t servers_in_rack = 0;    // most of one rack
    std::uint32_t servers_in_domain = 0;  // most of one scale-up domain
  };
  struct HostLoad;

  /// It does so through NICs.
  [[nodiscard]] bool leaves(const Placement& placement, std::size_t on_server) const;
  /// own_cpus: of the job's worker on each GPU; server_cpus: of its parameter servers, by GPU.
  [[nodiscard]] HostLoad load_on(const Host& host, std::span<const GpuId> own, double own_cpus,
                                 double server_cpus, const ModelProfile& model,
                                 const Neighbours& beside) const;
  [[nodiscard]] double contention(const ModelProfile& model, double asked, double cores) const;
  [[nodiscard]] double sharing_on(const Host& host, std::span<const GpuId> own,
                                  const ModelProfile& model, const Neighbours& beside) const;
  [[nodiscard]] double kind_s(const Kind& kind, const JobProfile& job, const ModelProfile& model,
                              std::uint32_t gpus) const;
  void collect_kinds();

  Topology topology_;
  double pressure_;
  const Contention* contention_;
  std::vector<Host> hosts_;
  std::vector<Kind> fastest_;
};

}  // namespace starling
