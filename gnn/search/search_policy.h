// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/registry.h"

namespace starling {

/// Adds `marl-search`: a base policy whose best few options are played out (SearchChooser).
void add_marl_search(PolicyRegistry& registry);
/// Adds `clairvoyant`: the same over the true future (Foresight).
void add_clairvoyant(PolicyRegistry& registry);

}  // namespace starling
