// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "launch/experiment/experiment.h"
#include "topology/reading/yaml_reader.h"

namespace starling {

/// `network` of an experiment: ideal, lan, or a mapping; by default lan where physics is full.
[[nodiscard]] NetworkModel read_network(Diagnostics& diagnostics, const YamlMap& map,
                                        PhysicsKind physics);

/// `faults`: one of none or a mapping of what differs from `network`, or a list of them.
[[nodiscard]] std::vector<FaultsChoice> read_faults(Diagnostics& diagnostics, const YamlMap& map,
                                                    const NetworkModel& network);

}  // namespace starling
