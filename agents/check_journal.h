// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "agents/config.h"
#include "agents/record.h"
#include "base/result.h"

namespace starling {

/// Whether what an agent's journal leaves open can be of this configuration: `invalid` where an
/// attempt that is not over has GPUs or partitions that are not there, as after a change of the
/// topology, or a job is offered to an agent that is not; and where the configuration itself cannot
/// be (executors that do not serve the partition's servers). An Agent would leave the one out and
/// abort for the other, so look before it is made. (Executors: fits_journal().)
[[nodiscard]] Status check_journal(const AgentConfig& config, std::span<const Record> records);

}  // namespace starling
