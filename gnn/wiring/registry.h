// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/registry.h"

namespace starling {

/// Adds every learned system (gnn/learned_system.h) and the search over placement policies.
void add_gnn_policies(PolicyRegistry& registry);

}  // namespace starling
