// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/registry.h"

namespace starling {

/// Adds the learned policies: marl.
void add_gnn_policies(PolicyRegistry& registry);

}  // namespace starling
