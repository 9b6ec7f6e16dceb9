// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "topology/topology.h"
#include "workload/job.h"

namespace starling {

/// How long a step takes of a job that trains by parameter servers and pushes each layer as soon as
/// its gradients are there (our reading of SMD's abstract, INFOCOM 2021, which has a layered model
/// of a network and ratios of it; the formula is ours):
///
///   T(w, p) = (M/w) F + max over l of { (M/w) sum_{k>=l} B_k + (w/p) sum_{k<=l} G_k } + a w + b p
///
/// Layers are pushed from the last to the first, so after the backward pass of layer l those from l
/// down are still to go. M samples in a step, w workers, p servers. With one layer it is Optimus'
/// synchronous T (interference/pace/server_curve.h). Each term of the maximum is a sum of the
/// ratios M/w and w/p.
struct LayeredSteps {
  struct Layer {
    double backward_s = 0;  ///< of one sample
    double exchange_s = 0;  ///< push and pull of one worker with one server that has it all
  };
  double batch = 1;                   ///< M, in what forward_s and backward_s are of
  double forward_s = 0;               ///< of one sample, through all layers
  std::vector<Layer> layers;          ///< the first first; at least one
  double worker_s = 0, server_s = 0;  ///< of each connection

  /// w and p at least 1.
  [[nodiscard]] double step_s(double workers, double servers) const noexcept;
};

/// What the gradients of a partition's jobs cross. Servers of the kind of which there are most
/// GPUs.
struct PartitionLink {
  double bytes_per_s = 0;  ///< of one server's NICs, after what protocols take; 0: costs nothing
  GpuTypeId type;
};
[[nodiscard]] PartitionLink partition_link(const Topology& topology, IndexRange servers);

/// Of a job with RunDetails::max_servers: times and bytes of the catalogue, in as many equal layers
/// as it says, w counted in GPUs and M as many samples as the job asks for GPUs, each of the time
/// of a GPU's own batch. Where servers take CPUs, what those serve (kServerBytesPerCpuS) adds to
/// what the link takes.
[[nodiscard]] LayeredSteps layered_steps(const JobSpec& job, const Topology& topology,
                                         const PartitionLink& link);

}  // namespace starling
