// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "launch/launchers/server_label.h"
#include "topology/topology.h"

namespace starling {

/// A flock as it was, or is, between two changes of its servers. Earlier ones are kept in the
/// folder `servers`, N.json and its topology, because journals say in whose numbers they speak.
struct Generation {
  Deployment flock;
  Topology topology;
  std::uint64_t fingerprint = 0;  ///< fingerprint_in()
};

[[nodiscard]] std::filesystem::path generation_file(const std::filesystem::path& dir,
                                                    std::uint32_t generation);
/// The topology of a generation after the first, relative to the flock's directory.
[[nodiscard]] std::string generation_topology(std::uint32_t generation);

/// What journals and messages of the flock call the numbers of `topology`: fingerprint_of() in the
/// first generation; later ones differ from each other also where that is blind, as to memory.
[[nodiscard]] std::uint64_t fingerprint_in(const Deployment& flock, const Topology& topology);

/// All before `now`, oldest first. `invalid` names what cannot be read.
[[nodiscard]] Result<std::vector<Generation>> earlier_generations(const Deployment& now);

/// By server of `now`: as in the first generation that knew its name, and of its GPUs, as in the
/// first where it had as many.
[[nodiscard]] std::vector<ServerLabel> server_labels(const std::vector<Generation>& earlier,
                                                     const Topology& now);

}  // namespace starling
