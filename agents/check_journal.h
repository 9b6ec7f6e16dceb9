#pragma once

#include <span>

#include "agents/config.h"
#include "agents/record.h"
#include "base/result.h"
#include "topology/topology.h"

namespace starling {

/// Whether what a journal leaves open can be of this configuration: `invalid` where an attempt that
/// is not over has GPUs that this node does not have, as after a change of the topology. The cores
/// would leave it out. Look before they are made.
[[nodiscard]] Status check_journal(const AgentConfig& config, std::span<const Record> records);
[[nodiscard]] Status check_journal(const ExecutorConfig& config, const Topology& topology,
                                   std::span<const Record> records);

}  // namespace starling
