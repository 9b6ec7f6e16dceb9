// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interference/speed.h"

namespace starling {

/// Whether two jobs have room on one GPU of that much memory: what both models need, by the
/// catalogue, is no more than there is. A policy must not pair jobs that have not: Physics lets
/// them crawl at kThrashing. Symmetric.
[[nodiscard]] bool fits_together(const JobProfile& one, const JobProfile& other,
                                 double gpu_memory_gib) noexcept;
/// The same on the given GPU of the topology.
[[nodiscard]] bool fits_together(const JobProfile& one, const JobProfile& other,
                                 const Topology& topology, GpuId gpu) noexcept;

/// Speed, as a part of alone, of a job whose GPU has not the memory for all its jobs: pages go to
/// the host and back over PCIe, where a GPU of 2018 has a twentieth or less of its own bandwidth.
/// An assumption: where Gavel measured such pairs, they failed.
constexpr double kThrashing = 0.05;

}  // namespace starling
