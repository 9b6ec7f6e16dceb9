// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "topology/placement.h"
#include "topology/topology.h"

namespace starling {

/// A health file says which of an executor's GPUs are bad: numbers as in the topology, one or more
/// a line, `#` begins a comment. No file: none is. A watcher of the hardware writes it, best by
/// renaming a new one over it.

/// The GPUs that `text` names, ascending. `invalid` names the line. `gpus`: those of the executor.
[[nodiscard]] Result<Placement> parse_health(const std::string& text, IndexRange gpus);

}  // namespace starling
