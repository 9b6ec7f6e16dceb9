// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/hardware/hardware_finding.h"
#include "launch/hardware/machine_found.h"
#include "topology/topology.h"

namespace starling {

/// Which GPUs of those servers are not as the topology says, if `gpus` are those of their machine
/// by NVML: none with such an index, one that the driver cannot reach, another model, or less
/// memory than a driver keeps for itself. A finding of kind bad for those of a server that lack the
/// same way.
[[nodiscard]] std::vector<HardwareFinding> missing_gpus(const std::vector<GpuFound>& gpus,
                                                        const Topology& topology,
                                                        IndexRange servers);

/// Whether the topology is about other machines than this one, as in a test: there are GPUs, and
/// each that can be reached is of another model than all GPUs of those servers.
[[nodiscard]] bool is_about_others(const std::vector<GpuFound>& gpus, const Topology& topology,
                                   IndexRange servers);

/// Of GPUs that were other ones when `before` was written; both by index. Sentences.
[[nodiscard]] std::vector<std::string> replaced_gpus(const std::vector<GpuFound>& gpus,
                                                     const std::vector<std::string>& before);

}  // namespace starling
